// Computes vectors or scores of texts with an encoder or a decoder from a
// checkpoint's folder, inside a budget of bytes.
//
//   absl::StatusOr<std::unique_ptr<footprint::TextEmbedder>> embedder =
//       footprint::TextEmbedder::Open("all-MiniLM-L6-v2",
//                                     footprint::WeightBackend::kDirect);
//   absl::StatusOr<footprint::TypedIds> ids = (*embedder)->Encode("Hello");
//   absl::Status status =
//       (*embedder)->Start(/*tokens=*/128, /*workers=*/2, 4 << 20);
//   absl::StatusOr<absl::Span<const float>> vector = (*embedder)->Embed(*ids);
//
// The folder is that of a sentence-transformers model: config.json,
// model.safetensors, tokenizer.json or vocab.txt, and modules.json (see
// sentence_pooling.h). A text of more tokens than the model takes is cut as in
// sentence-transformers: it loses its last tokens, but the ids that end each
// text stay. A decoder (Qwen3-Embedding) pools by its last token; decoders with
// another pooling are refused. A bidirectional model with a decoder's layers
// (ModernBERT, NomicBert, EmbeddingGemma) has any pooling.
// Whitespace around a text is removed, as in sentence-transformers, and the
// text is converted to lower case if the folder says so.
//
// With `gives_scores` the vector has the logits of a classifier or reranker
// (encoder_head.h) for one text or a pair of texts.
//
// An embedder is used by one thread at a time; Encode may be called from any
// thread. Memory: the plan's arena, the tokenizer's tables and one vector.
// Time: each text reads every weight once; with a decoder that is not
// bidirectional, once for each chunk_tokens of its plan.
//
// Errors are those of Encoder, Decoder, Tokenizer and ReadSentencePooling. The
// error is InvalidArgument also if the parts of the folder do not fit each
// other, or if a text has no tokens; it is Unimplemented also for decoders that
// are refused, and for scores from a decoder. It is DataLoss also if the layers
// after the model lead to NaN or infinity, which is never returned.

#ifndef FOOTPRINT_LOWMEM_MODELS_TEXT_EMBEDDER_H_
#define FOOTPRINT_LOWMEM_MODELS_TEXT_EMBEDDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/lowmem/kernels/arithmetic.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/models/decoder_run.h"
#include "footprint/lowmem/models/dense_layer.h"
#include "footprint/lowmem/models/encoder.h"
#include "footprint/lowmem/models/encoder_run.h"
#include "footprint/lowmem/models/sentence_pooling.h"
#include "footprint/lowmem/streaming/budget_choice.h"
#include "footprint/lowmem/text/text_template.h"
#include "footprint/lowmem/text/tokenizer.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

struct TextEmbedderOptions {
  // Embed returns the head's logits instead of the pooled vector.
  bool gives_scores = false;
  // See ReadSentencePooling.
  std::string prompt_name;
  // The arithmetic of products with the model's quantised matrices.
  Arithmetic arithmetic = Arithmetic::kExact;
};

class TextEmbedder {
 public:
  static absl::StatusOr<std::unique_ptr<TextEmbedder>> Open(
      const std::string& directory, WeightBackend backend,
      const TextEmbedderOptions& options = {});

  const SentencePooling& pooling() const { return pooling_; }
  int64_t features() const { return static_cast<int64_t>(vector_.size()); }
  WeightStore& store() const;
  // Returns the matrices that the model multiplies, without those of
  // the modules after it.
  std::vector<Weight> matrices() const;
  // Returns the most tokens of a text that is not cut.
  int64_t most_tokens() const { return most_tokens_; }

  // Returns the ids of a text, cut to what the model takes. `is_cut`, unless
  // null, says whether that was needed.
  absl::StatusOr<TypedIds> Encode(absl::string_view text,
                                  bool* is_cut = nullptr) const;
  // Returns the same for two texts, such as a question and an answer. The
  // longer one is cut first.
  absl::StatusOr<TypedIds> EncodePair(absl::string_view first,
                                      absl::string_view second,
                                      bool* is_cut = nullptr) const;

  // These return the smallest budget for texts of at most `tokens` tokens, and
  // the least budget whose predicted time is close to that of an ample one.
  absl::StatusOr<int64_t> MinBudgetBytes(int64_t tokens, int workers) const;
  absl::StatusOr<BudgetChoice> ChooseBudget(int64_t tokens, int workers) const;

  // Plans within the budget for texts of at most `tokens` tokens, and allocates
  // the memory. Before that it calls `check` with the plan's peak, and returns
  // its error if there is one.
  absl::Status Start(
      int64_t tokens, int workers, int64_t budget_bytes,
      absl::FunctionRef<absl::Status(int64_t peak_bytes)> check = [](int64_t) {
        return absl::OkStatus();
      });

  // Returns the vector of a text's ids, which the next call overwrites. Returns
  // FailedPrecondition if Start has not succeeded.
  absl::StatusOr<absl::Span<const float>> Embed(const TypedIds& ids);

 private:
  TextEmbedder() = default;

  absl::Status OpenModel(const std::string& directory, WeightBackend backend,
                         Arithmetic arithmetic);
  absl::Status OpenLayers();
  absl::StatusOr<std::vector<int32_t>> EncodeBare(absl::string_view text) const;
  absl::StatusOr<TypedIds> Checked(TypedIds ids) const;
  // Returns the states of all tokens, or of the last token.
  absl::StatusOr<absl::Span<const float>> RunModel(const TypedIds& ids);
  int64_t vocabulary() const;

  std::unique_ptr<Encoder> encoder_;  // null for a decoder's layers
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Tokenizer> tokenizer_;
  SentencePooling pooling_;
  int64_t most_tokens_ = 0;
  std::unique_ptr<EncoderRun> run_;  // null for a decoder
  std::unique_ptr<DecoderRun> decoder_run_;
  bool gives_scores_ = false;
  std::vector<DenseModule> dense_;
  std::vector<DenseLayer> layers_;  // of those modules, or of the head
  std::vector<float> pooled_;
  std::vector<float> vector_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_TEXT_EMBEDDER_H_
