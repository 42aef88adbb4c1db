#include "footprint/lowmem/models/text_embedder.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "footprint/lowmem/checkpoints/model_family.h"
#include "footprint/lowmem/kernels/token_kernels.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/models/encoder_head.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {

namespace {

// Removes what Python's strip() removes from both ends.
absl::string_view Stripped(absl::string_view text) {
  const auto is_space = [](int32_t character) {
    return IsWhitespace(character) || (character >= 0x1c && character <= 0x1f);
  };
  const absl::string_view whole = text;
  size_t begin = whole.size();
  size_t end = 0;
  while (!text.empty()) {
    const size_t at = whole.size() - text.size();
    if (is_space(TakeCharacter(&text))) continue;
    begin = std::min(begin, at);
    end = whole.size() - text.size();
  }
  return begin < end ? whole.substr(begin, end - begin) : "";
}

// Cuts the longer of two texts first, so that both have `most` ids together.
void CutPair(int64_t most, std::vector<int32_t>* first,
             std::vector<int32_t>* second) {
  if (first->size() > second->size()) std::swap(first, second);
  const auto shorter = static_cast<int64_t>(first->size());
  if (shorter + std::max(shorter, most - shorter) > most) {
    first->resize(most / 2);
    second->resize(most - most / 2);
  } else {
    second->resize(most - shorter);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<TextEmbedder>> TextEmbedder::Open(
    const std::string& directory, WeightBackend backend,
    const TextEmbedderOptions& options) {
  auto embedder = absl::WrapUnique(new TextEmbedder());
  embedder->gives_scores_ = options.gives_scores;
  absl::StatusOr<SentencePooling> pooling =
      ReadSentencePooling(directory, options.prompt_name);
  if (!pooling.ok()) return pooling.status();
  embedder->pooling_ = *pooling;
  auto tokenizer = Tokenizer::Open(pooling->model_folder);
  if (!tokenizer.ok()) return tokenizer.status();
  embedder->tokenizer_ = *std::move(tokenizer);
  absl::Status status =
      embedder->OpenModel(pooling->model_folder, backend, options.arithmetic);
  if (status.ok()) status = embedder->OpenLayers();
  if (!status.ok()) return status;
  const int64_t positions = embedder->encoder_ != nullptr
                                ? embedder->encoder_->config().positions
                                : embedder->decoder_->config().positions;
  embedder->most_tokens_ = pooling->most_tokens > 0
                               ? std::min(positions, pooling->most_tokens)
                               : positions;
  return embedder;
}

// Opens the layers that are applied to the pooled vector.
absl::Status TextEmbedder::OpenLayers() {
  if (gives_scores_) {
    auto head = FindEncoderHead(encoder_->config(), &encoder_->store());
    if (!head.ok()) return head.status();
    layers_ = *std::move(head);
  } else {
    for (const std::string& folder : pooling_.dense) {
      auto dense = DenseModule::Open(folder);
      if (!dense.ok()) return dense.status();
      dense_.push_back(*std::move(dense));
      layers_.push_back(dense_.back().layer());
    }
  }
  int64_t features = static_cast<int64_t>(pooled_.size());
  for (const DenseLayer& layer : layers_) {
    if (layer.inputs() != features) {
      return absl::InvalidArgumentError(
          absl::StrCat("a Dense module takes vectors of ", layer.inputs(),
                       ", but gets vectors of ", features));
    }
    features = layer.outputs();
  }
  vector_.resize(features);
  return absl::OkStatus();
}

absl::Status TextEmbedder::OpenModel(const std::string& directory,
                                     WeightBackend backend,
                                     Arithmetic arithmetic) {
  const std::string path = directory + "/config.json";
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  auto config = ConfigReader::Parse(*text, path);
  if (!config.ok()) return config.status();
  const ModelFamily family = FindModelFamily(*config);
  if (!config->status().ok()) return config->status();
  if (!HasDecoderLayers(family)) {
    auto encoder = Encoder::Open(directory, backend, arithmetic);
    if (!encoder.ok()) return encoder.status();
    encoder_ = *std::move(encoder);
    pooled_.resize(encoder_->config().hidden);
    return absl::OkStatus();
  }
  if (gives_scores_) {
    return absl::UnimplementedError(absl::StrCat(
        directory,
        ": has a decoder's layers; heads that give scores are known of "
        "encoders of BERT's kind"));
  }
  const auto shape = ParseDecoderConfig(*text, path);
  if (!shape.ok()) return shape.status();
  if (pooling_.kind != SentencePooling::Kind::kLast &&
      !shape->is_bidirectional) {
    return absl::UnimplementedError(absl::StrCat(
        directory, ": a decoder's vectors are known by the last token alone; ",
        pooling_.is_stated ? "its modules.json names the pooling "
                           : "without modules.json the pooling is ",
        PoolingName(pooling_.kind)));
  }
  DecoderOptions options;
  options.use = DecoderUse::kStates;
  options.arithmetic = arithmetic;
  auto decoder = Decoder::Open(directory, backend, options);
  if (!decoder.ok()) return decoder.status();
  decoder_ = *std::move(decoder);
  pooled_.resize(decoder_->config().hidden);
  return absl::OkStatus();
}

std::vector<Weight> TextEmbedder::matrices() const {
  return encoder_ != nullptr ? MultipliedMatrices(encoder_->weights())
                             : MultipliedMatrices(decoder_->weights());
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

absl::StatusOr<std::vector<int32_t>> TextEmbedder::EncodeBare(
    absl::string_view text) const {
  // This comes before the text is read as characters.
  absl::Status status = CheckUtf8(text);
  if (!status.ok()) return status;
  std::string shown(Stripped(absl::StrCat(pooling_.prompt, text)));
  if (pooling_.lowers) shown = ToLowerCase(shown);
  return tokenizer_->Encode(shown, SpecialIds::kLeaveOut);
}

absl::StatusOr<TypedIds> TextEmbedder::Encode(absl::string_view text,
                                              bool* is_cut) const {
  absl::StatusOr<std::vector<int32_t>> ids = EncodeBare(text);
  if (!ids.ok()) return ids.status();
  const int64_t most = most_tokens_ - tokenizer_->around().CountAdded(false);
  const bool is_long = static_cast<int64_t>(ids->size()) > most;
  if (is_cut != nullptr) *is_cut = is_long;
  if (is_long) ids->resize(std::max<int64_t>(0, most));
  return Checked(tokenizer_->around().Join(*ids));
}

absl::StatusOr<TypedIds> TextEmbedder::EncodePair(absl::string_view first,
                                                  absl::string_view second,
                                                  bool* is_cut) const {
  absl::StatusOr<std::vector<int32_t>> a = EncodeBare(first);
  if (!a.ok()) return a.status();
  absl::StatusOr<std::vector<int32_t>> b = EncodeBare(second);
  if (!b.ok()) return b.status();
  const int64_t most = std::max<int64_t>(
      0, most_tokens_ - tokenizer_->around().CountAdded(true));
  const bool is_long = static_cast<int64_t>(a->size() + b->size()) > most;
  if (is_cut != nullptr) *is_cut = is_long;
  if (is_long) CutPair(most, &*a, &*b);
  absl::StatusOr<TypedIds> ids = tokenizer_->around().Join(*a, *b);
  if (!ids.ok()) return ids.status();
  return Checked(*std::move(ids));
}

absl::StatusOr<TypedIds> TextEmbedder::Checked(TypedIds ids) const {
  if (ids.ids.empty()) {
    return absl::InvalidArgumentError(
        "an empty text has no tokens, and so no vector");
  }
  if (static_cast<int64_t>(ids.ids.size()) > most_tokens_) {
    return absl::InvalidArgumentError(
        absl::StrCat("the tokenizer adds ", ids.ids.size(),
                     " ids to any text, but the model takes ", most_tokens_));
  }
  for (const int32_t id : ids.ids) {
    if (id < vocabulary()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the tokenizer gives id ", id, ", but the model has ",
                     vocabulary(), " words: they are not of one checkpoint"));
  }
  // A model without types of tokens does not get any.
  if (encoder_ == nullptr || encoder_->config().token_types < 2) {
    ids.types.clear();
  }
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

absl::StatusOr<absl::Span<const float>> TextEmbedder::RunModel(
    const TypedIds& ids) {
  if (decoder_run_ != nullptr) {
    if (decoder_->config().is_bidirectional) {
      return decoder_run_->EncodeStates(ids.ids);
    }
    decoder_run_->Clear();
    return decoder_run_->AppendForState(ids.ids);
  }
  if (run_ == nullptr) {
    return absl::FailedPreconditionError("Embed is called before Start");
  }
  return run_->Forward(ids.ids, ids.types);
}

absl::StatusOr<absl::Span<const float>> TextEmbedder::Embed(
    const TypedIds& ids) {
  const auto states = RunModel(ids);
  if (!states.ok()) return states.status();
  PoolStates(gives_scores_ ? SentencePooling::Kind::kFirst : pooling_.kind,
             *states, absl::MakeSpan(pooled_));
  const auto vector = ApplyLayers(layers_, pooled_);
  if (!vector.ok()) return vector.status();
  vector_ = *vector;
  if (pooling_.normalises && !gives_scores_) {
    NormaliseVector(absl::MakeSpan(vector_));
  }
  if (!AreFinite(vector_.data(), static_cast<int64_t>(vector_.size()))) {
    return absl::DataLossError(
        "the text's numbers after the model are NaN or infinite: the weights "
        "of its Dense modules or its head hold such numbers, or ones too large "
        "for float32. Download or export the folder again");
  }
  return absl::MakeConstSpan(vector_);
}

}  // namespace footprint
