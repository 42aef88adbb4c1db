#include "footprint/lowmem/text/gguf_tokenizer_file.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/files/watched_file.h"
#include "footprint/base/gguf/gguf.h"
#include "footprint/base/gguf/gguf_list.h"
#include "footprint/lowmem/text/byte_alphabet.h"

namespace footprint {
namespace {

using Json = nlohmann::json;

// The kinds of words in "tokenizer.ggml.token_type".
enum WordKind : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

// The regular expressions by which published tokenizers cut texts. All
// tokenizers of a kind share one.
constexpr char kLlama3Pattern[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr char kQwen2Pattern[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr char kGpt4oPattern[] =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr char kDeepseekPattern[] =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|"
    "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
    "\\s*[\r\n]+|\\s+(?!\\S)|\\s+";
constexpr char kKnownCuts[] =
    "\"llama-bpe\", \"dbrx\", \"smaug-bpe\", \"qwen2\", \"gpt-2\", \"smollm\", "
    "\"refact\", \"gpt-4o\" and \"deepseek-v3\"";

Json Split(absl::string_view pattern) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", std::string(pattern)}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

Json ByteLevel(bool cuts) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", cuts}};
}

Json Sequence(const char* list, Json steps) {
  return {{"type", "Sequence"}, {list, std::move(steps)}};
}

// Returns the pre-tokenizer that `name` stands for, or null if it is not known.
Json PreTokenizer(const std::string& name) {
  const char* const list = "pretokenizers";
  if (name == "gpt-2") return ByteLevel(true);
  // Granite's is "refact".
  if (name == "smollm" || name == "refact") {
    const Json digits = {{"type", "Digits"}, {"individual_digits", true}};
    return Sequence(list, Json::array({digits, ByteLevel(true)}));
  }
  if (name == "deepseek-v3") {
    return Sequence(
        list, Json::array({Split("\\p{N}{1,3}"),
                           Split("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"),
                           Split(kDeepseekPattern), ByteLevel(false)}));
  }
  const char* pattern = nullptr;
  // These are the names of OLMo-2's and SmolLM3's, too.
  if (name == "llama-bpe" || name == "dbrx" || name == "smaug-bpe") {
    pattern = kLlama3Pattern;
  }
  if (name == "qwen2") pattern = kQwen2Pattern;
  if (name == "gpt-4o") pattern = kGpt4oPattern;
  if (pattern == nullptr) return Json();
  return Sequence(list, Json::array({Split(pattern), ByteLevel(false)}));
}

// Reads the words of one file and the keys about them. Keeps the first error.
class Words {
 protected:
  Words(const GgufIndex& index, const WatchedFile& file)
      : index_(index), file_(file) {
    tokenizer_.words = std::make_unique<TokenTable>();
    tokenizer_.merges = std::make_unique<MergeTable>(tokenizer_.words.get());
    tokenizer_.settings = Json::object();
  }

  void Fail(absl::string_view what) {
    status_.Update(absl::InvalidArgumentError(
        absl::StrCat(index_.file_name(), ": ", what)));
  }

  // Reads a list with one element for each word. Returns an empty list if the
  // file does not have the key.
  template <class T, class Read>
  std::vector<T> ReadBesideWords(const char* key, GgufType type, Read read) {
    if (!index_.Has(key) || !status_.ok()) return {};
    const auto list = index_.List(key, type);
    if (!list.ok()) {
      status_ = list.status();
      return {};
    }
    absl::StatusOr<std::vector<T>> values = read(file_, **list);
    status_.Update(values.status());
    return values.ok() ? *std::move(values) : std::vector<T>();
  }

  void ReadKinds() {
    kinds_ = ReadBesideWords<int32_t>("tokenizer.ggml.token_type",
                                      GgufType::kI32, ReadGgufIntegers);
    scores_ = ReadBesideWords<float>("tokenizer.ggml.scores", GgufType::kF32,
                                     ReadGgufNumbers);
  }

  int32_t KindOf(size_t id) const {
    return id < kinds_.size() ? kinds_[id] : kNormal;
  }

  void ReadWords() {
    const auto list = index_.List("tokenizer.ggml.tokens", GgufType::kString);
    status_.Update(list.status());
    if (!status_.ok()) return;
    const auto count = static_cast<size_t>((*list)->count);
    if ((!kinds_.empty() && kinds_.size() != count) ||
        (!scores_.empty() && scores_.size() != count)) {
      Fail(absl::StrCat("there are ", count, " words, but ", kinds_.size(),
                        " kinds and ", scores_.size(), " scores"));
      return;
    }
    Json added = Json::array();
    GgufTexts texts(file_, **list);
    std::string word;
    for (size_t id = 0; texts.Next(&word) && status_.ok(); ++id) {
      AddWord(id, word, &added);
    }
    status_.Update(texts.status());
    if (status_.ok()) status_ = tokenizer_.words->Index();
    tokenizer_.settings["added_tokens"] = std::move(added);
  }

  void AddWord(size_t id, const std::string& word, Json* added) {
    const int32_t kind = KindOf(id);
    if (kind == kControl || kind == kUserDefined) {
      added->push_back({{"id", id},
                        {"content", word},
                        {"special", kind == kControl},
                        {"normalized", false},
                        {"single_word", false},
                        {"lstrip", false},
                        {"rstrip", false}});
    }
    // In a byte-level vocabulary, control words are not added to the table, so
    // that no text is encoded as one.
    if (word.empty() || (is_byte_level_ && kind == kControl)) return;
    status_.Update(
        tokenizer_.words->Add(static_cast<int64_t>(id), Bytes(word)));
  }

  std::string Bytes(const std::string& word) const {
    if (!is_byte_level_) return word;
    return FromByteAlphabet(word).value_or(word);
  }

  bool FlagOr(const char* key, bool otherwise) {
    if (!index_.Has(key)) return otherwise;
    const absl::StatusOr<bool> flag = index_.Flag(key);
    status_.Update(flag.status());
    return flag.ok() ? *flag : otherwise;
  }

  // Returns the id that a key holds and the id's word, or nothing if the id has
  // no word.
  absl::optional<std::pair<int32_t, std::string>> FindWord(const char* key,
                                                           int64_t otherwise) {
    int64_t id = otherwise;
    if (index_.Has(key)) {
      const absl::StatusOr<int64_t> value = index_.Integer(key);
      status_.Update(value.status());
      if (!value.ok()) return absl::nullopt;
      id = *value;
    }
    if (id < 0) return absl::nullopt;
    for (const Json& word : tokenizer_.settings["added_tokens"]) {
      if (word["id"].get<int64_t>() == id) {
        return std::make_pair(static_cast<int32_t>(id),
                              word["content"].get<std::string>());
      }
    }
    if (id >= tokenizer_.words->size()) return absl::nullopt;
    const auto number = static_cast<int32_t>(id);
    return std::make_pair(number, std::string(tokenizer_.words->word(number)));
  }

  const GgufIndex& index_;
  const WatchedFile& file_;
  TokenizerFile tokenizer_;
  absl::Status status_;
  bool is_byte_level_ = false;
  std::vector<int32_t> kinds_;
  std::vector<float> scores_;
};

// Reads the whole tokenizer.
class Filler : private Words {
 public:
  Filler(const GgufIndex& index, const WatchedFile& file)
      : Words(index, file) {}

  absl::StatusOr<TokenizerFile> Fill() {
    const absl::StatusOr<std::string> model =
        index_.Text("tokenizer.ggml.model");
    if (!model.ok()) return model.status();
    if (*model != "gpt2" && *model != "llama") {
      return absl::UnimplementedError(
          absl::StrCat(index_.file_name(), ": tokenizer.ggml.model is \"",
                       *model, "\"; \"gpt2\" and \"llama\" are read"));
    }
    is_byte_level_ = *model == "gpt2";
    ReadKinds();
    ReadWords();
    if (is_byte_level_) {
      SetByteLevel();
      ReadMerges();
    } else {
      SetSentencePiece();
      DeriveMerges();
    }
    AddFrame();
    if (status_.ok()) status_ = tokenizer_.merges->Index();
    if (!status_.ok()) return status_;
    return std::move(tokenizer_);
  }

 private:
  void SetByteLevel() {
    Json& settings = tokenizer_.settings;
    const absl::StatusOr<std::string> cut = index_.Text("tokenizer.ggml.pre");
    if (!cut.ok()) {
      Fail(absl::StrCat(
          "no key \"tokenizer.ggml.pre\" says how a text is cut into words; an "
          "old program made the file: convert the model again"));
      return;
    }
    settings["pre_tokenizer"] = PreTokenizer(*cut);
    if (settings["pre_tokenizer"].is_null()) {
      status_.Update(absl::UnimplementedError(absl::StrCat(
          index_.file_name(), ": tokenizer.ggml.pre is \"", *cut,
          "\", a way to cut texts that is not known; ", kKnownCuts, " are")));
    }
    if (*cut == "qwen2") settings["normalizer"] = {{"type", "NFC"}};
    settings["decoder"] = ByteLevel(true);
    settings["model"] = {{"type", "BPE"},
                         {"ignore_merges", *cut == "llama-bpe"}};
    adds_bos_ = *cut == "llama-bpe";
  }

  void ReadMerges() {
    const auto list = index_.List("tokenizer.ggml.merges", GgufType::kString);
    status_.Update(list.status());
    if (!status_.ok()) return;
    GgufTexts texts(file_, **list);
    std::string merge;
    while (texts.Next(&merge) && status_.ok()) {
      const size_t space = merge.find(' ', 1);
      if (space == std::string::npos) {
        Fail(absl::StrCat("\"", merge, "\" is not a merge of two words"));
        return;
      }
      status_.Update(tokenizer_.merges->Add(Bytes(merge.substr(0, space)),
                                            Bytes(merge.substr(space + 1))));
    }
    status_.Update(texts.status());
  }

  void SetSentencePiece() {
    const char kSpace[] = "\u2581";
    const auto replace = [](const char* from, const char* to) {
      return Json({{"type", "Replace"},
                   {"pattern", {{"String", from}}},
                   {"content", to}});
    };
    Json& settings = tokenizer_.settings;
    Json decoders = Json::array(
        {replace(kSpace, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}});
    settings["normalizer"] = replace(" ", kSpace);
    if (FlagOr("tokenizer.ggml.add_space_prefix", true)) {
      settings["normalizer"] =
          Sequence("normalizers",
                   Json::array({{{"type", "Prepend"}, {"prepend", kSpace}},
                                settings["normalizer"]}));
      decoders.push_back(
          {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    }
    settings["decoder"] = Sequence("decoders", std::move(decoders));
    settings["model"] = {
        {"type", "BPE"}, {"fuse_unk", true}, {"byte_fallback", true}};
    const auto unknown = FindWord("tokenizer.ggml.unknown_token_id", 0);
    if (unknown.has_value()) settings["model"]["unk_token"] = unknown->second;
    adds_bos_ = true;
  }

  // Each cut of a word into two words is a merge, ranked by the word's score.
  // Among the cuts of one word, those whose left part has the lower id come
  // first.
  void DeriveMerges() {
    if (scores_.empty()) {
      Fail(
          "no key \"tokenizer.ggml.scores\" says which words are joined first");
    }
    // NaN compares with nothing, so scores with NaN cannot be sorted.
    const auto nan = std::find_if(scores_.begin(), scores_.end(),
                                  [](float score) { return score != score; });
    if (nan != scores_.end()) {
      Fail(absl::StrCat("tokenizer.ggml.scores has NaN for id ",
                        nan - scores_.begin(),
                        ". The file is damaged: download it again"));
      return;
    }
    const auto range = std::minmax_element(scores_.begin(), scores_.end());
    if (scores_.size() > 1 && *range.first == *range.second) {
      Fail(
          "all of tokenizer.ggml.scores are equal, so nothing says which words "
          "are joined first; convert the model with its tokenizer.model");
    }
    if (!status_.ok()) return;
    std::vector<int32_t> order(scores_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](int32_t a, int32_t b) {
      return scores_[a] > scores_[b];
    });
    for (const int32_t id : order) {
      if (KindOf(id) != kNormal && KindOf(id) != kUserDefined) continue;
      if (!AddCuts(tokenizer_.words->word(id))) return;
    }
  }

  bool AddCuts(absl::string_view word) {
    struct Cut {
      int32_t left;
      int32_t right;
      size_t place;
    };
    // Words above this length are not made by merges.
    constexpr size_t kLongestWord = 255;
    if (word.size() > kLongestWord) return true;
    std::vector<Cut> cuts;
    for (size_t place = 1; place < word.size(); ++place) {
      const auto left = tokenizer_.words->Find(word.substr(0, place));
      const auto right = tokenizer_.words->Find(word.substr(place));
      if (left.has_value() && right.has_value()) {
        cuts.push_back({*left, *right, place});
      }
    }
    std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
      return std::make_pair(a.left, a.right) < std::make_pair(b.left, b.right);
    });
    for (const Cut& cut : cuts) {
      status_.Update(tokenizer_.merges->Add(word.substr(0, cut.place),
                                            word.substr(cut.place)));
    }
    return status_.ok();
  }

  // Adds the words that stand before and after a text.
  void AddFrame() {
    if (!status_.ok()) return;
    Json single = Json::array();
    Json words = Json::object();
    const auto add = [&](const char* flag, bool otherwise, const char* key) {
      if (!FlagOr(flag, otherwise)) return;
      const auto word = FindWord(key, -1);
      if (!word.has_value()) {
        Fail(absl::StrCat(flag, " is set, but ", key, " names no word"));
        return;
      }
      single.push_back({{"SpecialToken", {{"id", word->second}}}});
      words[word->second] = {{"id", word->second}, {"ids", {word->first}}};
    };
    add("tokenizer.ggml.add_bos_token", adds_bos_,
        "tokenizer.ggml.bos_token_id");
    single.push_back({{"Sequence", {{"id", "A"}}}});
    add("tokenizer.ggml.add_eos_token", false, "tokenizer.ggml.eos_token_id");
    tokenizer_.settings["post_processor"] = {{"type", "TemplateProcessing"},
                                             {"single", single},
                                             {"special_tokens", words}};
  }

  bool adds_bos_ = false;
};

}  // namespace

absl::StatusOr<TokenizerFile> ReadGgufTokenizer(const std::string& path) {
  const absl::StatusOr<WatchedFile> file = WatchedFile::Open(path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<GgufIndex> index =
      GgufIndex::Read(file->descriptor(), path);
  if (!index.ok()) return index.status();
  absl::StatusOr<TokenizerFile> tokenizer = Filler(*index, *file).Fill();
  if (tokenizer.ok() || absl::StrContains(tokenizer.status().message(), path)) {
    return tokenizer;
  }
  return absl::Status(tokenizer.status().code(),
                      absl::StrCat(path, ": ", tokenizer.status().message()));
}

absl::StatusOr<std::vector<int32_t>> ReadGgufStopIds(const std::string& path) {
  const absl::StatusOr<GgufIndex> index = GgufIndex::Open(path);
  if (!index.ok()) return index.status();
  std::vector<int32_t> stops;
  for (const char* key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
        "tokenizer.ggml.eom_token_id"}) {
    if (!index->Has(key)) continue;
    const absl::StatusOr<int64_t> id = index->Integer(key);
    if (!id.ok()) return id.status();
    constexpr int64_t kMostIds = 1 << 24;
    if (*id < 0 || *id >= kMostIds) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", key, " is ", *id, ", which is not an id"));
    }
    stops.push_back(static_cast<int32_t>(*id));
  }
  return stops;
}

}  // namespace footprint
