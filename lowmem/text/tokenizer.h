// Texts to ids and back, as a checkpoint's tokenizer.json says.
//
//   absl::StatusOr<std::unique_ptr<footprint::Tokenizer>> tokenizer =
//       footprint::Tokenizer::Open("Qwen3-0.6B");
//   absl::StatusOr<std::vector<int32_t>> ids =
//       (*tokenizer)->Encode("Hello, world", footprint::SpecialIds::kInclude);
//   std::string text = (*tokenizer)->Decode(*ids,
//   footprint::SpecialIds::kLeaveOut);
//
// Reads the keys of a GGUF file, or a folder's tokenizer.json; if there is
// none, its vocab.txt, BERT's older form. Models: BPE from bytes (GPT-2, Llama
// 3, Qwen) or characters (Llama 2, Gemma), WordPiece (BERT), and Unigram
// (XLM-R). What the file names and this does not know is refused; nothing is
// guessed. Ids are those of Hugging Face's tokenizers.
//
// When not to use it: to train a tokenizer, or for offsets of words in the
// text.
//
// Thread-safe. Memory: for 128,000 words and 280,000 merges about 4.5 MiB, and
// while a text is encoded some 50 bytes for each of its bytes. Time: about 30
// ns a byte of the file to open it, and a microsecond a word.
//
// Errors: those of ReadTokenizerFile, TextNormalizer and PieceSplitter.
// InvalidArgument: a text that is not UTF-8. Unimplemented: a decoder or
// post-processor that is not known; says which.

#ifndef FOOTPRINT_LOWMEM_TEXT_TOKENIZER_H_
#define FOOTPRINT_LOWMEM_TEXT_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/lowmem/text/byte_pair_model.h"
#include "footprint/lowmem/text/piece_splitter.h"
#include "footprint/lowmem/text/special_words.h"
#include "footprint/lowmem/text/text_normalizer.h"
#include "footprint/lowmem/text/text_template.h"
#include "footprint/lowmem/text/tokenizer_file.h"
#include "footprint/lowmem/text/unigram_model.h"
#include "footprint/lowmem/text/word_decoder.h"
#include "footprint/lowmem/text/word_piece_model.h"

namespace footprint {

// Whether signs to the model, as the beginning of a text, are added by Encode
// and shown by Decode.
enum class SpecialIds { kLeaveOut, kInclude };

class Tokenizer {
 public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> Open(
      const std::string& path);

  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  absl::StatusOr<std::vector<int32_t>> Encode(absl::string_view text,
                                              SpecialIds special) const;

  // The text may end within a character, where the ids do.
  std::string Decode(absl::Span<const int32_t> ids, SpecialIds special) const;

  // The id of a word that stands for itself, as "<|im_end|>".
  absl::optional<int32_t> FindWord(absl::string_view word) const;

  // Returns the largest id and one.
  int32_t size() const { return size_; }
  // Returns what is put around a text, or a pair of them.
  const TextTemplate& around() const { return around_; }

 private:
  explicit Tokenizer(TokenizerFile file) : file_(std::move(file)) {}

  absl::Status Set();
  absl::Status AddSpecialWords();
  absl::Status SetModel();
  absl::Status SetUnigram(const nlohmann::json& model);
  absl::optional<int32_t> FindUnknown() const;
  void EncodePiece(absl::string_view piece, std::vector<int32_t>* ids) const;
  absl::Status EncodeText(absl::string_view text, bool is_first,
                          std::vector<int32_t>* ids) const;
  absl::Status EncodeNormal(absl::string_view text, bool is_first,
                            std::vector<int32_t>* ids) const;

  TokenizerFile file_;
  TextNormalizer normalizer_;
  PieceSplitter splitter_;
  std::unique_ptr<BytePairModel> byte_pairs_;    // or
  std::unique_ptr<WordPieceModel> word_pieces_;  // another, or
  std::unique_ptr<UnigramModel> unigram_;        // the third
  std::unique_ptr<WordDecoder> decoder_;
  SpecialWords raw_words_;     // found in the text as it is
  SpecialWords normal_words_;  // found after it was normalised
  absl::flat_hash_map<int32_t, SpecialWord> special_by_id_;
  absl::flat_hash_map<std::string, int32_t> special_by_word_;
  TextTemplate around_;
  int32_t size_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_TOKENIZER_H_
