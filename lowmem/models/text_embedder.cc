#include "footprint/lowmem/models/text_embedder.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "footprint/lowmem/checkpoints/model_family.h"
#include "footprint/lowmem/models/decoder_weights.h"

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
  const absl::Status opened = embedder->OpenModel(directory, backend);
  if (!opened.ok()) return opened;
  const int64_t positions = embedder->encoder_ != nullptr
                                ? embedder->encoder_->config().positions
                                : embedder->decoder_->config().positions;
  embedder->most_tokens_ = pooling->most_tokens > 0
                               ? std::min(positions, pooling->most_tokens)
                               : positions;
  return embedder;
}

absl::Status TextEmbedder::OpenModel(const std::string& directory,
                                     WeightBackend backend) {
  const std::string path = directory + "/config.json";
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  auto config = ConfigReader::Parse(*text, path);
  if (!config.ok()) return config.status();
  const ModelFamily family = FindModelFamily(*config);
  if (!config->status().ok()) return config->status();
  if (!IsDecoderFamily(family)) {
    auto encoder = Encoder::Open(directory, backend);
    if (!encoder.ok()) return encoder.status();
    encoder_ = *std::move(encoder);
    vector_.resize(encoder_->config().hidden);
    return absl::OkStatus();
  }
  if (pooling_.kind != SentencePooling::Kind::kLast) {
    return absl::UnimplementedError(absl::StrCat(
        directory,
        ": a decoder's vectors are known by the last token alone; its "
        "modules.json says otherwise, or is not there"));
  }
  auto decoder = Decoder::Open(directory, backend, DecoderUse::kStates);
  if (!decoder.ok()) return decoder.status();
  decoder_ = *std::move(decoder);
  vector_.resize(decoder_->config().hidden);
  return absl::OkStatus();
}

WeightStore& TextEmbedder::store() const {
  return encoder_ != nullptr ? encoder_->store() : decoder_->store();
}

int64_t TextEmbedder::vocabulary() const {
  return encoder_ != nullptr ? encoder_->config().vocabulary
                             : decoder_->config().vocabulary;
}

absl::StatusOr<int64_t> TextEmbedder::MinBudgetBytes(int64_t tokens,
                                                     int workers) const {
  return encoder_ != nullptr ? encoder_->MinBudgetBytes(tokens, workers)
                             : decoder_->MinBudgetBytes(tokens, workers);
}

absl::StatusOr<BudgetChoice> TextEmbedder::ChooseBudget(int64_t tokens,
                                                        int workers) const {
  return encoder_ != nullptr
             ? encoder_->ChooseBudget(tokens, workers)
             : decoder_->ChooseBudget(tokens, /*generated=*/1, workers);
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
  for (const int32_t id : *ids) {
    if (id < vocabulary()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the tokenizer gives id ", id, ", but the model has ",
                     vocabulary(), " words: they are not of one checkpoint"));
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

absl::Status TextEmbedder::Start(
    int64_t tokens, int workers, int64_t budget_bytes,
    absl::FunctionRef<absl::Status(int64_t peak_bytes)> check) {
  if (encoder_ != nullptr) {
    const auto plan = encoder_->Plan(tokens, workers, budget_bytes);
    if (!plan.ok()) return plan.status();
    const absl::Status status = check(plan->peak_bytes);
    if (!status.ok()) return status;
    auto run = encoder_->Start(*plan);
    if (!run.ok()) return run.status();
    run_ = *std::move(run);
    return absl::OkStatus();
  }
  const auto plan = decoder_->Plan(tokens, workers, budget_bytes);
  if (!plan.ok()) return plan.status();
  const absl::Status status = check(plan->peak_bytes);
  if (!status.ok()) return status;
  auto run = decoder_->Start(*plan);
  if (!run.ok()) return run.status();
  decoder_run_ = *std::move(run);
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const float>> TextEmbedder::EmbedByDecoder(
    absl::Span<const int32_t> ids) {
  decoder_run_->Clear();
  const auto state = decoder_run_->AppendForState(ids);
  if (!state.ok()) return state.status();
  PoolStates(pooling_, *state, absl::MakeSpan(vector_));
  return absl::MakeConstSpan(vector_);
}

absl::StatusOr<absl::Span<const float>> TextEmbedder::Embed(
    absl::Span<const int32_t> ids) {
  if (decoder_run_ != nullptr) return EmbedByDecoder(ids);
  if (run_ == nullptr) {
    return absl::FailedPreconditionError("Embed is called before Start");
  }
  const auto states = run_->Forward(ids, {});
  if (!states.ok()) return states.status();
  PoolStates(pooling_, *states, absl::MakeSpan(vector_));
  return absl::MakeConstSpan(vector_);
}

}  // namespace footprint
