#include "footprint/lowmem/text/tokenizer_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/regular_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/lowmem/text/byte_alphabet.h"
#include "footprint/lowmem/text/json_pattern.h"

namespace footprint {
namespace {

using Json = nlohmann::json;
using Event = Json::parse_event_t;

// The largest accepted file, far larger than any known tokenizer.
constexpr int64_t kLargestFileBytes = 256 << 20;
// The deepest accepted nesting of objects and lists, deeper than in any known
// tokenizer.
constexpr int kDeepest = 64;

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;

absl::StatusOr<File> OpenFile(const std::string& path) {
  absl::StatusOr<FileDescriptor> descriptor = OpenRegularFile(path);
  if (!descriptor.ok()) return descriptor.status();
  struct stat status;
  if (fstat(descriptor->get(), &status) == 0 &&
      status.st_size > kLargestFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has ", status.st_size,
                     " bytes; a tokenizer has at most ", kLargestFileBytes));
  }
  File file(fdopen(dup(descriptor->get()), "rb"));
  if (file == nullptr) return FileError(errno, path, "cannot be read");
  return file;
}

// Receives the large parts of "model" during parsing.
class LargeParts {
 public:
  virtual ~LargeParts() = default;
  virtual void AddWord(const std::string& /*word*/, const Json& /*id*/) {}
  virtual void AddScoredWord(const std::string& /*word*/, double /*score*/) {}
  virtual void AddMerge(const std::string& /*left*/,
                        const std::string& /*right*/) {}
};

// A parser's callback: passes words and merges on and does not keep them.
class Follower {
 public:
  explicit Follower(LargeParts* parts) : parts_(parts) {}

  bool operator()(int depth, Event event, const Json& parsed) {
    if (depth > kDeepest) is_too_deep_ = true;
    if (is_too_deep_) return false;
    if (event == Event::key) return FollowKey(depth, parsed);
    if (IsIn("vocab") && depth == 3 && event == Event::value) {
      parts_->AddWord(word_, parsed);
      return true;
    }
    if (IsIn("vocab")) return FollowScoredWord(depth, event, parsed);
    return IsIn("merges") ? FollowMerge(depth, event, parsed) : true;
  }

  bool is_too_deep() const { return is_too_deep_; }

 private:
  bool IsIn(absl::string_view part) const {
    return top_key_ == "model" && model_key_ == part;
  }

  bool FollowKey(int depth, const Json& key) {
    if (depth == 1) top_key_ = key.get<std::string>();
    if (depth == 1) model_key_.clear();
    if (depth == 2) model_key_ = key.get<std::string>();
    if (depth != 3 || !IsIn("vocab")) return true;
    word_ = key.get<std::string>();
    return false;
  }

  // The words of a Unigram model are a list of ["word", score].
  bool FollowScoredWord(int depth, Event event, const Json& parsed) {
    if (depth == 4 && event == Event::value) {
      if (parsed.is_string()) {
        word_ = parsed.get<std::string>();
      } else if (parsed.is_number()) {
        parts_->AddScoredWord(word_, parsed.get<double>());
        word_.clear();
      }
      return false;
    }
    return !(depth == 3 && event == Event::array_end);
  }

  // Merges are "a b", or in newer files ["a", "b"].
  bool FollowMerge(int depth, Event event, const Json& parsed) {
    const std::string text =
        parsed.is_string() ? parsed.get<std::string>() : std::string();
    if (depth == 3 && event == Event::value) {
      const size_t space = text.find(' ', 1);
      // The table refuses a merge of an empty word, so this also refuses texts
      // that are not merges.
      const bool has_two = space != std::string::npos;
      parts_->AddMerge(text.substr(0, space),
                       has_two ? text.substr(space + 1) : std::string());
      return false;
    }
    if (depth == 4 && event == Event::value) {
      merge_.push_back(text);
      return false;
    }
    if (depth == 3 && event == Event::array_end) {
      merge_.resize(2);
      parts_->AddMerge(merge_[0], merge_[1]);
      merge_.clear();
      return false;
    }
    return true;
  }

  LargeParts* parts_;
  std::string top_key_;
  std::string model_key_;
  std::string word_;
  std::vector<std::string> merge_;
  bool is_too_deep_ = false;
};

// Parses the file, passes the large parts on, and returns the rest.
absl::StatusOr<Json> ParseFile(const std::string& path, LargeParts* parts) {
  const absl::StatusOr<File> file = OpenFile(path);
  if (!file.ok()) return file.status();
  Follower follower(parts);
  const Json json = Json::parse(
      file->get(),
      [&follower](int depth, Event event, Json& parsed) {
        return follower(depth, event, parsed);
      },
      /*allow_exceptions=*/false);
  if (follower.is_too_deep() || !json.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": is not a JSON object of a tokenizer; download it "
                     "again"));
  }
  return json;
}

// Returns the score as Hugging Face's library reads it, which is not always the
// nearest float: the digits as an integer, times a power of ten. The difference
// decides between two segmentations that are equally likely.
double AsRead(double score) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), std::fabs(score),
                                 std::chars_format::scientific)
                       .ptr;
  uint64_t digits = 0;
  int exponent = 0;
  bool is_fraction = false;
  const char* at = text;
  for (; at < end && *at != 'e'; ++at) {
    if (*at == '.') {
      is_fraction = true;
      continue;
    }
    digits = digits * 10 + static_cast<uint64_t>(*at - '0');
    if (is_fraction) --exponent;
  }
  int written = 0;
  if (!absl::SimpleAtoi(absl::string_view(at, end - at).substr(1), &written)) {
    return score;  // infinity
  }
  exponent += written;
  // Only these powers are exact as floats.
  if (std::abs(exponent) > 22) return score;
  const double power = std::pow(10.0, std::abs(exponent));
  const auto whole = static_cast<double>(digits);
  return std::copysign(exponent < 0 ? whole / power : whole * power, score);
}

// Fills the tables. Keeps the first error.
class Filler : public LargeParts {
 public:
  Filler(TokenizerFile* file, bool is_byte_level)
      : file_(file), is_byte_level_(is_byte_level) {}

  void AddWord(const std::string& word, const Json& id) override {
    if (has_words_) return;
    if (!id.is_number_integer()) {
      status_.Update(absl::InvalidArgumentError(
          absl::StrCat("the id of word \"", word, "\" is not a whole number")));
      return;
    }
    if (word.empty()) return;
    status_.Update(file_->words->Add(id.get<int64_t>(), Bytes(word)));
  }

  // The word's id is its position in the list.
  void AddScoredWord(const std::string& word, double score) override {
    if (has_words_) return;
    const auto id = static_cast<int64_t>(file_->scores.size());
    file_->scores.push_back(AsRead(score));
    has_scores_ = true;
    status_.Update(file_->words->Add(id, word));
  }

  // Merges that stand before the words are read in a second pass.
  void AddMerge(const std::string& left, const std::string& right) override {
    if (!EndWords()) {
      misses_merges_ = true;
    } else if (status_.ok()) {
      status_.Update(file_->merges->Add(Bytes(left), Bytes(right)));
    }
  }

  // Ends the list of words and returns whether there are any.
  bool EndWords() {
    if (!has_words_ && file_->words->size() > 0) {
      has_words_ = true;
      // A Unigram model may have the same word several times.
      status_.Update(file_->words->Index(has_scores_ ? Repeated::kLast
                                                     : Repeated::kRefused));
    }
    return has_words_;
  }

  bool misses_merges() const { return misses_merges_; }
  const absl::Status& status() const { return status_; }

 private:
  std::string Bytes(const std::string& word) const {
    if (!is_byte_level_) return word;
    return FromByteAlphabet(word).value_or(word);
  }

  TokenizerFile* file_;
  const bool is_byte_level_;
  bool has_words_ = false;
  bool has_scores_ = false;
  bool misses_merges_ = false;
  absl::Status status_;
};

bool IsByteLevel(const Json& step) {
  if (JsonTextOr(step, "type", "") == "ByteLevel") return true;
  for (const char* list : {"pretokenizers", "decoders"}) {
    for (const Json& part : JsonMember(step, list)) {
      if (JsonTextOr(part, "type", "") == "ByteLevel") return true;
    }
  }
  return false;
}

// Older files do not name the model's type.
std::string ModelType(const Json& settings) {
  const Json model = JsonMember(settings, "model");
  const std::string otherwise =
      !JsonMember(model, "continuing_subword_prefix").is_null() &&
              !JsonMember(model, "max_input_chars_per_word").is_null()
          ? "WordPiece"
          : "BPE";
  return JsonTextOr(model, "type", otherwise);
}

absl::Status At(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", status.message()));
}

}  // namespace

absl::StatusOr<TokenizerFile> ReadTokenizerFile(const std::string& path) {
  LargeParts nothing;
  absl::StatusOr<Json> settings = ParseFile(path, &nothing);
  if (!settings.ok()) return settings.status();
  TokenizerFile file;
  file.settings = *std::move(settings);
  const std::string type = ModelType(file.settings);
  if (type != "BPE" && type != "WordPiece" && type != "Unigram") {
    return absl::UnimplementedError(
        absl::StrCat(path, ": model is \"", type,
                     "\"; known are \"BPE\", \"WordPiece\" and \"Unigram\""));
  }
  // If "model" is missing there are no words, which is an error below.
  if (JsonMember(file.settings, "model").is_object()) {
    file.settings["model"]["type"] = type;
  }
  file.words = std::make_unique<TokenTable>();
  file.merges = std::make_unique<MergeTable>(file.words.get());
  const bool is_byte_level =
      IsByteLevel(JsonMember(file.settings, "pre_tokenizer"));
  if (!is_byte_level && IsByteLevel(JsonMember(file.settings, "decoder"))) {
    return absl::UnimplementedError(
        absl::StrCat(path,
                     ": there is a decoder \"ByteLevel\", but no pre_tokenizer "
                     "of that name"));
  }
  Filler filler(&file, is_byte_level);
  absl::Status status = ParseFile(path, &filler).status();
  if (!filler.EndWords()) {
    status.Update(
        absl::InvalidArgumentError("model has no \"vocab\" with words"));
  } else if (filler.misses_merges()) {
    status.Update(ParseFile(path, &filler).status());
  }
  status.Update(filler.status());
  if (status.ok()) status = file.merges->Index();
  if (!status.ok()) return At(path, status);
  return file;
}

absl::StatusOr<TokenizerFile> ReadVocabularyFile(const std::string& path,
                                                 const Json& settings) {
  const absl::StatusOr<std::string> text =
      ReadWholeFile(path, kLargestFileBytes);
  if (!text.ok()) return text.status();
  TokenizerFile file;
  file.words = std::make_unique<TokenTable>();
  file.merges = std::make_unique<MergeTable>(file.words.get());
  absl::Status status;
  int64_t id = 0;
  // Reads a word from each line; the number of the line is its id.
  for (absl::string_view word : absl::StrSplit(*text, '\n')) {
    absl::ConsumeSuffix(&word, "\r");
    if (!word.empty()) status.Update(file.words->Add(id, word));
    ++id;
  }
  status.Update(file.words->Index());
  if (!status.ok()) return At(path, status);
  const auto cls = file.words->Find("[CLS]");
  const auto sep = file.words->Find("[SEP]");
  if (!cls.has_value() || !sep.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": has no words [CLS] and [SEP], so it is not BERT's"));
  }
  // Makes the settings that a tokenizer.json of BERT would have.
  Json added = Json::array();
  for (const char* special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    const auto id = file.words->Find(special);
    if (!id.has_value()) continue;
    added.push_back({{"id", *id}, {"content", special}, {"special", true}});
  }
  Json normalizer = {{"type", "BertNormalizer"},
                     {"lowercase", JsonFlagOr(settings, "do_lower_case", true)},
                     {"handle_chinese_chars",
                      JsonFlagOr(settings, "tokenize_chinese_chars", true)}};
  const Json& strips = JsonMember(settings, "strip_accents");
  if (strips.is_boolean()) normalizer["strip_accents"] = strips;
  file.settings = {
      {"added_tokens", added},
      {"normalizer", normalizer},
      {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
      {"post_processor",
       {{"type", "BertProcessing"},
        {"cls", {"[CLS]", *cls}},
        {"sep", {"[SEP]", *sep}}}},
      {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
      {"model", {{"type", "WordPiece"}, {"unk_token", "[UNK]"}}}};
  return file;
}

}  // namespace footprint
