// Vectors of texts, by an encoder from a checkpoint's folder, inside a budget
// of bytes.
//
//   absl::StatusOr<std::unique_ptr<footprint::TextEmbedder>> embedder =
//       footprint::TextEmbedder::Open("all-MiniLM-L6-v2",
//                                     footprint::WeightBackend::kDirect);
//   absl::StatusOr<std::vector<int32_t>> ids = (*embedder)->Encode("Hello");
//   absl::StatusOr<footprint::EncoderPlan> plan =
//       (*embedder)->encoder().Plan(128, /*workers=*/2, 4 << 20);
//   absl::Status status = (*embedder)->Start(*plan);
//   absl::StatusOr<absl::Span<const float>> vector = (*embedder)->Embed(*ids);
//
// The folder is that of a sentence-transformers model: config.json,
// model.safetensors, tokenizer.json or vocab.txt, and modules.json (see
// sentence_pooling.h). A text of more tokens than the model takes is cut, as
// sentence-transformers cut it: the last ids around it stay.
//
// Used by one thread at a time; Encode may be called from any. Memory: the
// plan's arena, the tokenizer's tables and one vector. Time: each text reads
// every weight once.
//
// Errors are those of Encoder, Tokenizer and ReadSentencePooling.

#ifndef FOOTPRINT_LOWMEM_MODELS_TEXT_EMBEDDER_H_
#define FOOTPRINT_LOWMEM_MODELS_TEXT_EMBEDDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/lowmem/models/encoder.h"
#include "footprint/lowmem/models/encoder_plan.h"
#include "footprint/lowmem/models/encoder_run.h"
#include "footprint/lowmem/models/sentence_pooling.h"
#include "footprint/lowmem/text/tokenizer.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

class TextEmbedder {
 public:
  static absl::StatusOr<std::unique_ptr<TextEmbedder>> Open(
      const std::string& directory, WeightBackend backend);

  const Encoder& encoder() const { return *encoder_; }
  const SentencePooling& pooling() const { return pooling_; }
  int64_t features() const { return encoder_->config().hidden; }
  // The most tokens of a text that is not cut.
  int64_t most_tokens() const { return most_tokens_; }

  // Returns the ids of a text, cut to what the model takes. `is_cut`, unless
  // null, says whether that was needed.
  absl::StatusOr<std::vector<int32_t>> Encode(absl::string_view text,
                                              bool* is_cut = nullptr) const;

  // Allocates what a plan of encoder() says.
  absl::Status Start(const EncoderPlan& plan);

  // Returns the vector of a text's ids, which the next call overwrites. After
  // Start.
  absl::StatusOr<absl::Span<const float>> Embed(absl::Span<const int32_t> ids);

 private:
  TextEmbedder() = default;

  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Tokenizer> tokenizer_;
  SentencePooling pooling_;
  int64_t most_tokens_ = 0;
  std::unique_ptr<EncoderRun> run_;
  std::vector<float> vector_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_TEXT_EMBEDDER_H_
