// Turns texts into ids and back, as a checkpoint's tokenizer.json says.
//
//   absl::StatusOr<std::unique_ptr<footprint::Tokenizer>> tokenizer =
//       footprint::Tokenizer::Open("Qwen3-0.6B");
//   absl::StatusOr<std::vector<int32_t>> ids =
//       (*tokenizer)->Encode("Hello, world", footprint::SpecialIds::kInclude);
//   std::string text =
//       (*tokenizer)->Decode(*ids, footprint::SpecialIds::kLeaveOut);
//
// Open reads the keys of a GGUF file, or tokenizer.json of a folder, or if that
// is missing vocab.txt, which older checkpoints of BERT have. Models: BPE from
// bytes (GPT-2, Llama 3, Qwen) or characters (Llama 2, Gemma), WordPiece
// (BERT), and Unigram (XLM-R). A file that names something unknown is refused;
// nothing is guessed. The ids are those of Hugging Face's tokenizers.
//
// When not to use it: to train a tokenizer, or to find the positions of words
// in the text.
//
// Thread-safe. Memory: about 4.5 MiB for 128,000 words and 280,000 merges, and
// some 50 bytes for each byte of a text while it is encoded. Time: about 30 ns
// for each byte of the file in Open, and a microsecond a word.
//
// Errors of Open: those of ReadTokenizerFile, ReadVocabularyFile,
// ReadGgufTokenizer, TextNormalizer, PieceSplitter, WordDecoder and
// TextTemplate. The error is InvalidArgument if the added words or the model
// lack a value. The error is Unimplemented for a BPE with a prefix or suffix of
// words, and for ByteLevel with another model. Errors of Encode:
// InvalidArgument if a text is not UTF-8, and those of TextPattern::Cut.

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

// Says whether Encode adds control words, such as the one that begins a text,
// and whether Decode shows them.
enum class SpecialIds { kLeaveOut, kInclude };

class Tokenizer {
 public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> Open(
      const std::string& path);

  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Returns the ids of a text. Special words in the text become their ids, also
  // with kLeaveOut.
  absl::StatusOr<std::vector<int32_t>> Encode(absl::string_view text,
                                              SpecialIds special) const;

  // Returns the text of the ids, which may end within a character. Ids without
  // a word add nothing.
  std::string Decode(absl::Span<const int32_t> ids, SpecialIds special) const;

  // Returns the id of a word, such as "<|im_end|>", or nullopt if the tokenizer
  // has no such word.
  absl::optional<int32_t> FindWord(absl::string_view word) const;

  // Returns the largest id plus one.
  int32_t size() const { return size_; }
  // Returns the template that adds ids around a text or a pair of texts.
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
  std::unique_ptr<BytePairModel> byte_pairs_;    // set for BPE
  std::unique_ptr<WordPieceModel> word_pieces_;  // set for WordPiece
  std::unique_ptr<UnigramModel> unigram_;        // set for Unigram
  std::unique_ptr<WordDecoder> decoder_;
  SpecialWords raw_words_;     // found in the text as it is
  SpecialWords normal_words_;  // found in the normalised text
  absl::flat_hash_map<int32_t, SpecialWord> special_by_id_;
  absl::flat_hash_map<std::string, int32_t> special_by_word_;
  TextTemplate around_;
  int32_t size_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_TOKENIZER_H_
