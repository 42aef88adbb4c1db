#include "footprint/lowmem/models/text_embedder.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace footprint {

absl::StatusOr<std::unique_ptr<TextEmbedder>> TextEmbedder::Open(
    const std::string& directory, WeightBackend backend) {
  auto embedder = absl::WrapUnique(new TextEmbedder());
  absl::StatusOr<SentencePooling> pooling = ReadSentencePooling(directory);
  if (!pooling.ok()) return pooling.status();
  embedder->pooling_ = *pooling;
  auto tokenizer = Tokenizer::Open(directory);
  if (!tokenizer.ok()) return tokenizer.status();
  embedder->tokenizer_ = *std::move(tokenizer);
  auto encoder = Encoder::Open(directory, backend);
  if (!encoder.ok()) return encoder.status();
  embedder->encoder_ = *std::move(encoder);
  const int64_t positions = embedder->encoder_->config().positions;
  embedder->most_tokens_ = pooling->most_tokens > 0
                               ? std::min(positions, pooling->most_tokens)
                               : positions;
  embedder->vector_.resize(embedder->features());
  return embedder;
}

absl::StatusOr<std::vector<int32_t>> TextEmbedder::Encode(
    absl::string_view text, bool* is_cut) const {
  absl::StatusOr<std::vector<int32_t>> ids =
      tokenizer_->Encode(text, SpecialIds::kInclude);
  if (!ids.ok()) return ids;
  if (ids->empty()) {
    return absl::InvalidArgumentError(
        "an empty text has no tokens, and so no vector");
  }
  const int64_t vocabulary = encoder_->config().vocabulary;
  for (const int32_t id : *ids) {
    if (id < vocabulary) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the tokenizer gives id ", id, ", but the model has ",
                     vocabulary, " words: they are not of one checkpoint"));
  }
  const bool is_long = static_cast<int64_t>(ids->size()) > most_tokens_;
  if (is_cut != nullptr) *is_cut = is_long;
  if (!is_long) return ids;
  const std::vector<int32_t>& suffix = tokenizer_->suffix();
  const int64_t kept =
      std::max<int64_t>(0, most_tokens_ - static_cast<int64_t>(suffix.size()));
  ids->resize(kept);
  ids->insert(ids->end(), suffix.begin(), suffix.end());
  return ids;
}

absl::Status TextEmbedder::Start(const EncoderPlan& plan) {
  auto run = encoder_->Start(plan);
  if (!run.ok()) return run.status();
  run_ = *std::move(run);
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const float>> TextEmbedder::Embed(
    absl::Span<const int32_t> ids) {
  if (run_ == nullptr) {
    return absl::FailedPreconditionError("Embed is called before Start");
  }
  const auto states = run_->Forward(ids, {});
  if (!states.ok()) return states.status();
  PoolStates(pooling_, *states, absl::MakeSpan(vector_));
  return absl::MakeConstSpan(vector_);
}

}  // namespace footprint
