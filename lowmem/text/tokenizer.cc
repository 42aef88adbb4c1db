#include "footprint/lowmem/text/tokenizer.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/lowmem/text/gguf_tokenizer_file.h"
#include "footprint/lowmem/text/json_pattern.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

using Json = nlohmann::json;

bool IsFile(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool IsThere(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

// BERT's tokenizer_config.json says whether capitals are kept.
bool LowersCase(const std::string& directory) {
  const auto text = ReadWholeFile(directory + "/tokenizer_config.json");
  if (!text.ok()) return true;
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return JsonFlagOr(json, "do_lower_case", true);
}

absl::StatusOr<TokenizerFile> ReadFile(const std::string& directory) {
  if (IsFile(directory)) return ReadGgufTokenizer(directory);
  const std::string path = directory + "/tokenizer.json";
  const std::string words = directory + "/vocab.txt";
  if (IsThere(path) || !IsThere(words)) {
    absl::StatusOr<TokenizerFile> file = ReadTokenizerFile(path);
    if (file.ok() || file.status().code() != absl::StatusCode::kNotFound) {
      return file;
    }
    return absl::NotFoundError(absl::StrCat(
        file.status().message(),
        "; texts are read with the tokenizer.json of the published checkpoint, "
        "or the vocab.txt of BERT"));
  }
  return ReadVocabularyFile(words, LowersCase(directory));
}

// The id of a word; nothing where it is none.
absl::optional<int32_t> ReadId(const Json& json) {
  constexpr int64_t kMostIds = 1 << 24;
  if (!json.is_number_integer()) return absl::nullopt;
  const auto id = json.get<int64_t>();
  if (id < 0 || id >= kMostIds) return absl::nullopt;
  return static_cast<int32_t>(id);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::Open(
    const std::string& directory) {
  absl::StatusOr<TokenizerFile> file = ReadFile(directory);
  if (!file.ok()) return file.status();
  auto tokenizer = absl::WrapUnique(new Tokenizer(*std::move(file)));
  const absl::Status status = tokenizer->Set();
  if (!status.ok()) {
    return absl::Status(
        status.code(),
        absl::StrCat(directory, IsFile(directory) ? "" : "/tokenizer.json",
                     ": ", status.message()));
  }
  return tokenizer;
}

absl::Status Tokenizer::Set() {
  const Json& settings = file_.settings;
  auto normalizer = TextNormalizer::Parse(JsonMember(settings, "normalizer"));
  if (!normalizer.ok()) return normalizer.status();
  normalizer_ = *std::move(normalizer);
  auto splitter = PieceSplitter::Parse(JsonMember(settings, "pre_tokenizer"));
  if (!splitter.ok()) return splitter.status();
  splitter_ = *std::move(splitter);
  auto decoder = WordDecoder::Parse(JsonMember(settings, "decoder"));
  if (!decoder.ok()) return decoder.status();
  decoder_ = std::make_unique<WordDecoder>(*std::move(decoder));
  size_ = file_.words->size();
  absl::Status status = AddSpecialWords();
  if (status.ok()) status = SetModel();
  if (status.ok()) {
    status = AddPostProcessor(JsonMember(settings, "post_processor"));
  }
  file_.settings = Json();  // all is taken from it
  return status;
}

absl::Status Tokenizer::AddSpecialWords() {
  for (const Json& json : JsonMember(file_.settings, "added_tokens")) {
    SpecialWord word;
    word.content = JsonTextOr(json, "content", "");
    const absl::optional<int32_t> id = ReadId(JsonMember(json, "id"));
    if (word.content.empty() || !id.has_value()) {
      return absl::InvalidArgumentError(
          "added_tokens has an entry without a content and an id");
    }
    word.id = *id;
    word.is_special = JsonFlagOr(json, "special", false);
    word.takes_left = JsonFlagOr(json, "lstrip", false);
    word.takes_right = JsonFlagOr(json, "rstrip", false);
    word.is_single = JsonFlagOr(json, "single_word", false);
    size_ = std::max(size_, word.id + 1);
    special_by_id_[word.id] = word;
    special_by_word_[word.content] = word.id;
    if (!JsonFlagOr(json, "normalized", false)) {
      raw_words_.Add(word);
      continue;
    }
    // It is looked for in a text that was normalised, so it is, too.
    const absl::StatusOr<std::string> normal = normalizer_.Apply(word.content);
    if (!normal.ok()) return normal.status();
    word.content = *normal;
    normal_words_.Add(word);
  }
  return absl::OkStatus();
}

absl::optional<int32_t> Tokenizer::FindUnknown() const {
  const std::string word =
      JsonTextOr(JsonMember(file_.settings, "model"), "unk_token", "");
  return word.empty() ? absl::nullopt : FindWord(word);
}

absl::Status Tokenizer::SetUnigram(const Json& model) {
  UnigramOptions options;
  options.falls_back_to_bytes = JsonFlagOr(model, "byte_fallback", false);
  options.unknown = ReadId(JsonMember(model, "unk_id"));
  if (options.unknown.has_value() && *options.unknown >= size_) {
    return absl::InvalidArgumentError("model has an unk_id that no word has");
  }
  if (static_cast<int32_t>(file_.scores.size()) != file_.words->size()) {
    return absl::InvalidArgumentError("model has words without a score");
  }
  unigram_ = std::make_unique<UnigramModel>(file_.words.get(),
                                            std::move(file_.scores), options);
  return absl::OkStatus();
}

absl::Status Tokenizer::SetModel() {
  const Json& model = JsonMember(file_.settings, "model");
  const absl::optional<int32_t> unknown = FindUnknown();
  if (JsonTextOr(model, "type", "") == "WordPiece") {
    if (!unknown.has_value()) {
      return absl::InvalidArgumentError(
          "model has no unk_token that the vocabulary has");
    }
    WordPieceOptions options;
    options.unknown = *unknown;
    options.continuing_prefix =
        JsonTextOr(model, "continuing_subword_prefix", "##");
    options.most_characters =
        ReadId(JsonMember(model, "max_input_chars_per_word"))
            .value_or(options.most_characters);
    word_pieces_ = std::make_unique<WordPieceModel>(file_.words.get(), options);
    return absl::OkStatus();
  }
  if (JsonTextOr(model, "type", "") == "Unigram") return SetUnigram(model);
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (JsonTextOr(model, key, "").empty()) continue;
    return absl::UnimplementedError(
        absl::StrCat("model has a ", key, "; BPE is read without one"));
  }
  BytePairOptions options;
  options.begins_with_bytes = splitter_.is_byte_level();
  options.takes_whole_words = JsonFlagOr(model, "ignore_merges", false);
  options.falls_back_to_bytes = JsonFlagOr(model, "byte_fallback", false);
  options.unknown = unknown;
  options.fuses_unknown = JsonFlagOr(model, "fuse_unk", false);
  byte_pairs_ = std::make_unique<BytePairModel>(file_.words.get(),
                                                file_.merges.get(), options);
  return absl::OkStatus();
}

// {"single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]}
absl::Status Tokenizer::AddTemplate(const Json& json) {
  bool is_before = true;
  std::vector<int32_t> before;
  for (const Json& part : JsonMember(json, "single")) {
    if (!JsonMember(part, "Sequence").is_null()) {
      is_before = false;
      continue;
    }
    const std::string name =
        JsonTextOr(JsonMember(part, "SpecialToken"), "id", "");
    const Json& ids =
        JsonMember(JsonMember(JsonMember(json, "special_tokens"), name), "ids");
    for (const Json& json_id : ids) {
      const absl::optional<int32_t> id = ReadId(json_id);
      if (id.has_value()) (is_before ? before : suffix_).push_back(*id);
    }
    if (ids.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "post_processor has no ids of its special token \"", name, "\""));
    }
  }
  prefix_.insert(prefix_.begin(), before.begin(), before.end());
  return absl::OkStatus();
}

absl::Status Tokenizer::AddPostProcessor(const Json& json) {
  if (json.is_null()) return absl::OkStatus();
  const std::string type = JsonTextOr(json, "type", "");
  if (type == "ByteLevel") return absl::OkStatus();
  if (type == "Sequence") {
    for (const Json& step : JsonMember(json, "processors")) {
      const absl::Status status = AddPostProcessor(step);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  if (type == "TemplateProcessing") return AddTemplate(json);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    const auto id_of = [&json](const char* key) {
      const Json& word = JsonMember(json, key);
      return word.is_array() && word.size() == 2 ? ReadId(word[1])
                                                 : absl::nullopt;
    };
    const absl::optional<int32_t> cls = id_of("cls");
    const absl::optional<int32_t> sep = id_of("sep");
    if (!cls.has_value() || !sep.has_value()) {
      return absl::InvalidArgumentError("post_processor has no cls and sep");
    }
    prefix_.push_back(*cls);
    suffix_.push_back(*sep);
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat(
      "post_processor \"", type,
      "\" is unknown; known are Sequence, ByteLevel, TemplateProcessing, "
      "BertProcessing and RobertaProcessing"));
}

void Tokenizer::EncodePiece(absl::string_view piece,
                            std::vector<int32_t>* ids) const {
  if (word_pieces_ != nullptr) {
    word_pieces_->Encode(piece, ids);
  } else if (unigram_ != nullptr) {
    unigram_->Encode(piece, ids);
  } else {
    byte_pairs_->Encode(piece, ids);
  }
}

absl::Status Tokenizer::EncodeNormal(absl::string_view text, bool is_first,
                                     std::vector<int32_t>* ids) const {
  const auto pieces = splitter_.Split(text, is_first);
  if (!pieces.ok()) return pieces.status();
  for (const std::string& piece : *pieces) EncodePiece(piece, ids);
  return absl::OkStatus();
}

absl::Status Tokenizer::EncodeText(absl::string_view text, bool is_first,
                                   std::vector<int32_t>* ids) const {
  const absl::StatusOr<std::string> normal = normalizer_.Apply(text);
  if (!normal.ok()) return normal.status();
  const bool begins = is_first && !normalizer_.DropsBeginning(text);
  for (const SpecialWords::Part& part : normal_words_.Cut(*normal)) {
    if (part.word != nullptr) {
      ids->push_back(part.word->id);
    } else {
      const absl::Status status = EncodeNormal(
          part.text, begins && part.text.data() == normal->data(), ids);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int32_t>> Tokenizer::Encode(
    absl::string_view text, SpecialIds special) const {
  absl::Status status = CheckUtf8(text);
  if (!status.ok()) return status;
  std::vector<int32_t> ids;
  if (special == SpecialIds::kInclude) ids = prefix_;
  for (const SpecialWords::Part& part : raw_words_.Cut(text)) {
    if (part.word != nullptr) {
      ids.push_back(part.word->id);
      continue;
    }
    status = EncodeText(part.text, part.text.data() == text.data(), &ids);
    if (!status.ok()) return status;
  }
  if (special == SpecialIds::kInclude) {
    ids.insert(ids.end(), suffix_.begin(), suffix_.end());
  }
  return ids;
}

std::string Tokenizer::Decode(absl::Span<const int32_t> ids,
                              SpecialIds special) const {
  std::vector<absl::string_view> words;
  for (const int32_t id : ids) {
    const auto found = special_by_id_.find(id);
    if (found == special_by_id_.end()) {
      // An id that is no word's adds nothing.
      const absl::string_view word = file_.words->word(id);
      if (!word.empty()) words.push_back(word);
    } else if (!found->second.is_special || special == SpecialIds::kInclude) {
      words.push_back(found->second.content);
    }
  }
  return decoder_->Join(words);
}

absl::optional<int32_t> Tokenizer::FindWord(absl::string_view word) const {
  const auto found = special_by_word_.find(word);
  if (found != special_by_word_.end()) return found->second;
  return file_.words->Find(word);
}

}  // namespace footprint
