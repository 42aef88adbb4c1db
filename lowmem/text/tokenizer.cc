#include "footprint/lowmem/text/tokenizer.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
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

// Older files of BERT keep these settings in a file beside the vocabulary.
Json ReadSettings(const std::string& directory) {
  const auto text = ReadWholeFile(directory + "/tokenizer_config.json");
  if (!text.ok()) return Json();
  return Json::parse(*text, nullptr, /*allow_exceptions=*/false);
}

// Returns the file that holds the words: the GGUF file itself, or one of the
// folder.
std::string FindFile(const std::string& directory) {
  if (IsFile(directory)) return directory;
  const std::string path = directory + "/tokenizer.json";
  const std::string words = directory + "/vocab.txt";
  return IsThere(path) || !IsThere(words) ? path : words;
}

absl::StatusOr<TokenizerFile> ReadFile(const std::string& directory,
                                       const std::string& path) {
  if (path == directory) return ReadGgufTokenizer(path);
  if (absl::EndsWith(path, "/vocab.txt")) {
    return ReadVocabularyFile(path, ReadSettings(directory));
  }
  absl::StatusOr<TokenizerFile> file = ReadTokenizerFile(path);
  if (file.ok() || file.status().code() != absl::StatusCode::kNotFound) {
    return file;
  }
  return absl::NotFoundError(absl::StrCat(
      file.status().message(),
      "; texts are read with the tokenizer.json of the published checkpoint, "
      "or the vocab.txt of BERT"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::Open(
    const std::string& directory) {
  const std::string path = FindFile(directory);
  absl::StatusOr<TokenizerFile> file = ReadFile(directory, path);
  if (!file.ok()) return file.status();
  auto tokenizer = absl::WrapUnique(new Tokenizer(*std::move(file)));
  const absl::Status status = tokenizer->Set();
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
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
  auto around = TextTemplate::Parse(JsonMember(settings, "post_processor"));
  status.Update(around.status());
  if (around.ok()) around_ = *std::move(around);
  file_.settings = Json();  // no longer needed
  return status;
}

absl::Status Tokenizer::AddSpecialWords() {
  std::vector<SpecialWord> changed;
  for (const Json& json : JsonMember(file_.settings, "added_tokens")) {
    SpecialWord word;
    word.content = JsonTextOr(json, "content", "");
    const absl::optional<int32_t> id = JsonId(JsonMember(json, "id"));
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
    // The word is searched in normalised text, so it is normalised as well.
    const absl::StatusOr<std::string> normal = normalizer_.Apply(word.content);
    if (!normal.ok()) return normal.status();
    if (normal->empty()) {
      return absl::UnimplementedError(absl::StrCat(
          "the added token \"", word.content,
          "\" is empty once it is normalised, so no text can contain it"));
    }
    if (*normal == word.content) {
      normal_words_.Add(word);
    } else {
      word.content = *normal;
      changed.push_back(word);
    }
  }
  // Among equal words, the first one that is added counts. So words that
  // normalising changed are added last.
  for (const SpecialWord& word : changed) normal_words_.Add(word);
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
  options.unknown = JsonId(JsonMember(model, "unk_id"));
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
  if (splitter_.is_byte_level() && JsonTextOr(model, "type", "") != "BPE") {
    return absl::UnimplementedError(absl::StrCat(
        "model \"", JsonTextOr(model, "type", ""),
        "\" is read from characters, not with pre_tokenizer \"ByteLevel\""));
  }
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
        JsonId(JsonMember(model, "max_input_chars_per_word"))
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
  for (const SpecialWords::Part& part : raw_words_.Cut(text)) {
    if (part.word != nullptr) {
      ids.push_back(part.word->id);
      continue;
    }
    status = EncodeText(part.text, part.text.data() == text.data(), &ids);
    if (!status.ok()) return status;
  }
  if (special == SpecialIds::kInclude) return around_.Join(ids).ids;
  return ids;
}

std::string Tokenizer::Decode(absl::Span<const int32_t> ids,
                              SpecialIds special) const {
  std::vector<absl::string_view> words;
  for (const int32_t id : ids) {
    const auto found = special_by_id_.find(id);
    if (found == special_by_id_.end()) {
      // An id without a word adds nothing.
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
