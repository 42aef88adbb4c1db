#include "footprint/trainer_manager/runtime/step_runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/runtime/gradient_steps.h"
#include "footprint/trainer_manager/runtime/gradient_tiles_step.h"
#include "footprint/trainer_manager/runtime/sliced_step.h"

namespace footprint {
namespace {

// Copies the running statistics to their saved copies, or back.
void CopyStatistics(const StepData& data, Role from, Role to) {
  for (int i = 0; data.Has(from, i); ++i) {
    std::memcpy(data.Write<char>(to, i), data.Read<char>(from, i),
                static_cast<size_t>(data.elements(to, i)) * sizeof(float));
  }
}

}  // namespace

StepRunner::StepRunner(const ExecutionPlan& plan, StepTable table,
                       const ManagerOptions& options,
                       GroupOptimizers optimizers, const BatchBuffers* buffers)
    : seed_(options.seed),
      clip_norm_(options.clip_norm),
      clip_value_(options.clip_value),
      optimizers_(std::move(optimizers)),
      mode_(plan.mode),
      math_(plan.math),
      buffers_(buffers),
      table_(std::move(table)),
      arena_size_bytes_(plan.arena_bytes),
      micro_batches_(plan.micro_batches) {
  layers_.reserve(plan.network->layers.size());
  for (const ResolvedNetwork::ResolvedLayer& layer : plan.network->layers) {
    layers_.push_back(layer.layer);
  }
  FindSteps(plan);
  if (options.poison)
    lifespan_checker_ = std::make_unique<LifespanChecker>(plan);
}

void StepRunner::FindSteps(const ExecutionPlan& plan) {
  const auto kind = [&plan](size_t s) { return plan.steps[s].kind; };
  size_t restore = plan.steps.size();
  size_t first_update = plan.steps.size();
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (kind(s) == StepKind::kForward &&
        plan.network->layers[plan.steps[s].layer].is_loss()) {
      loss_step_ = static_cast<uint32_t>(s);
    }
    if (kind(s) == StepKind::kRestoreStatistics) restore = s;
    if (kind(s) == StepKind::kApplyGradient ||
        kind(s) == StepKind::kApplyGradientTiles) {
      first_update = std::min(first_update, s);
    }
  }
  // Finds the updates at the end of the plan. If a weight changes before them,
  // no step separates gradients from updates.
  size_t commit = plan.steps.size();
  while (commit > 0 && (kind(commit - 1) == StepKind::kApplyGradient ||
                        kind(commit - 1) == StepKind::kRestoreStatistics)) {
    --commit;
  }
  if (commit > first_update) commit = plan.steps.size();
  restore_step_ = static_cast<uint32_t>(restore);
  commit_step_ = static_cast<uint32_t>(commit);
}

absl::Status StepRunner::OpenSwapFile(const ExecutionPlan& plan,
                                      const std::string& folder) {
  std::vector<int64_t> pieces;
  for (const PlannedStep& step : plan.steps) {
    if (step.kind != StepKind::kSwapOut) continue;
    pieces.push_back(step.file_offset_bytes);
  }
  if (pieces.empty()) return absl::OkStatus();
  if (folder.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the plan swaps ", plan.swap_file_bytes,
                     " bytes to a file: set ManagerOptions::swap_folder"));
  }
  auto file = SwapFile::Create(folder, pieces, plan.swap_file_bytes);
  if (!file.ok()) return file.status();
  swapped_ = *std::move(file);
  return absl::OkStatus();
}

absl::Status StepRunner::OpenWeights(const ExecutionPlan& plan,
                                     const std::string& path,
                                     const ParameterMap& map) {
  if (plan.weight_bytes_read_per_iteration() == 0) {
    if (path.empty()) return absl::OkStatus();
    // The weights would be the initial ones, and not those of the file.
    return absl::InvalidArgumentError(
        "the plan reads no weights from ManagerOptions::weights_file: freeze "
        "layers and set MemoryOptions::read_frozen_weights, or load the file "
        "with LoadParameters");
  }
  if (path.empty()) {
    return absl::InvalidArgumentError(
        "the plan reads frozen weights from their file: set "
        "ManagerOptions::weights_file");
  }
  auto reader = WeightReader::Open(plan, path, map);
  if (!reader.ok()) return reader.status();
  weights_ = *std::move(reader);
  return absl::OkStatus();
}

absl::Status StepRunner::EnsureArena() {
  if (arena_.size_bytes() == arena_size_bytes_) return absl::OkStatus();
  absl::StatusOr<MemoryBlock> arena = MemoryBlock::Allocate(arena_size_bytes_);
  if (!arena.ok()) return arena.status();
  arena_ = *std::move(arena);
  return absl::OkStatus();
}

void StepRunner::ReleaseArena() { MemoryBlock released = std::move(arena_); }

absl::Status StepRunner::Run(size_t begin, size_t end, size_t* failed) {
  if (lifespan_checker_ != nullptr && begin == 0) {
    lifespan_checker_->Begin(arena_.data(), arena_.size_bytes());
  }
  for (size_t s = begin; s < end; ++s) {
    *failed = s;
    absl::Status status;
    if (s == commit_step_ && IsLastMicroBatch()) status = PrepareUpdates();
    if (status.ok()) status = RunStep(s);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Prepares all updates before the first weight changes, so that an error here
// leaves all weights as they were.
absl::Status StepRunner::PrepareUpdates() {
  for (const Step& step : table_.steps().subspan(commit_step_)) {
    if (step.kind != StepKind::kApplyGradient) continue;
    const Slots slots = SlotsAt(step);
    const absl::Status status =
        PrepareGradients(MakeData(step, slots), optimizers_.At(step.layer),
                         clip_value_, iteration_);
    if (!status.ok()) return InLayer(step, status);
    if (lifespan_checker_ != nullptr)
      lifespan_checker_->MarkWritten(step.first_use, slots);
  }
  return absl::OkStatus();
}

absl::Status StepRunner::RunStep(size_t index) {
  const Step& step = table_.steps()[index];
  const Slots slots = SlotsAt(step);
  const StepData data = MakeData(step, slots);
  absl::Status status = buffers_->CheckUnchanged(slots, data.name());
  if (!status.ok()) return status;
  if (lifespan_checker_ != nullptr)
    status = lifespan_checker_->CheckRead(step.first_use, slots);
  const absl::optional<size_t> matrix =
      weights_ == nullptr ? absl::nullopt : weights_->FindTiles(index);
  if (status.ok()) {
    status = matrix.has_value() ? RunTiles(step, *matrix, slots, data)
                                : RunKind(step, slots, data);
  }
  if (status.ok()) status = CheckRecomputed(step, slots);
  // Steps that copy statistics calculate nothing. RunKind has checked those
  // that restore them.
  if (status.ok() && lifespan_checker_ != nullptr &&
      step.kind != StepKind::kCopyStatistics &&
      step.kind != StepKind::kRestoreStatistics) {
    status = CheckFinite(slots, /*written=*/true);
  }
  if (status.ok() && lifespan_checker_ != nullptr) {
    status =
        lifespan_checker_->CheckOthers(step.first_use, slots, arena_.data());
  }
  if (!status.ok()) {
    // The errors of these steps already name the layer.
    const bool of_all = step.kind == StepKind::kClipGradients ||
                        step.kind == StepKind::kRestoreStatistics;
    return of_all ? status : InLayer(step, status);
  }
  if (lifespan_checker_ != nullptr) {
    lifespan_checker_->MarkWritten(step.first_use, slots);
    lifespan_checker_->PoisonAfter(index, arena_.data());
  }
  return buffers_->CheckUnchanged(slots, data.name());
}

absl::Status StepRunner::RunKind(const Step& step, Slots slots,
                                 const StepData& data) {
  const Layer& layer = *layers_[step.layer];
  switch (step.kind) {
    case StepKind::kForward:
      return layer.Forward(data);
    case StepKind::kRecompute:
      return layer.Recompute(data);
    case StepKind::kSwapOut:
    case StepKind::kSwapIn:
      return RunSwap(step, data);
    case StepKind::kReadWeights:
      return weights_->Read(step.other, slots);
    case StepKind::kReadRows:
      return weights_->ReadRows(step.other, data);
    case StepKind::kCopyInput:
      std::memcpy(
          data.Write<char>(Role::kOutput), data.Read<char>(Role::kInput),
          static_cast<size_t>(data.elements(Role::kOutput)) * sizeof(float));
      break;
    case StepKind::kCalculateGradient:
      layer.CalculateGradient(data);
      break;
    case StepKind::kCalculateDerivative:
      layer.CalculateDerivative(data);
      break;
    case StepKind::kSlicedDerivative:
      CalculateSlicedDerivative(layer, *layers_[step.other], slots, data);
      break;
    case StepKind::kSlicedSum:
      CalculateSlicedSum(layer, slots, data);
      break;
    case StepKind::kSumDerivatives:
    case StepKind::kSumGradients:
      AddTensors(data);
      break;
    case StepKind::kAccumulateGradient:
      AccumulateGradient(data, micro_batch_, micro_batches_,
                         micro_batch_weight_);
      break;
    case StepKind::kClipGradients:
      // Gradients are complete only after the last micro-batch.
      if (IsLastMicroBatch() && !ClipGradients(data, clip_norm_)) {
        return ExplainGradients();
      }
      break;
    case StepKind::kApplyGradient:
      if (!IsLastMicroBatch()) break;
      return ApplyUpdate(step, data);
    case StepKind::kApplyGradientTiles:
      return ApplyTiles(step, slots, data);
    case StepKind::kCopyStatistics:
      // The copies are of the statistics from before the iteration.
      if (micro_batch_ > 0) break;
      CopyStatistics(data, Role::kRunningStatistic, Role::kSaved);
      break;
    case StepKind::kRestoreStatistics:
      // This step only checks the statistics. If it fails, the caller refuses
      // the iteration and restores them (RestoreStatistics).
      if (!CheckFinite(slots, /*written=*/true).ok()) {
        return ExplainStatistics();
      }
      break;
  }
  return absl::OkStatus();
}

// Runs the step with the first tile of its matrix, which lies in memory, and
// reads each other tile over the one before.
absl::Status StepRunner::RunTiles(const Step& step, size_t matrix, Slots slots,
                                  const StepData& data) {
  const Layer& layer = *layers_[step.layer];
  const bool is_derivative = step.kind == StepKind::kCalculateDerivative;
  const int64_t columns =
      data.shape(is_derivative ? Role::kOutputDerivative : Role::kOutput)
          .columns();
  // The only operand of its role that the step both reads and writes.
  const StepData::Slot& slot =
      *std::find_if(slots.begin(), slots.end(), [](const auto& each) {
        return each.readable && each.writable &&
               (each.operand.role == Role::kWeight ||
                each.operand.role == Role::kRunningStatistic);
      });
  const int64_t most_columns = slot.spec->shape.columns();
  for (int64_t begin = 0; begin < columns; begin += most_columns) {
    const MatrixTile tile = {begin, std::min(begin + most_columns, columns)};
    absl::Status status;
    if (begin > 0) {
      status = weights_->ReadTile(matrix, tile, static_cast<float*>(slot.data));
    }
    if (status.ok() && !is_derivative) status = layer.ForwardTile(data, tile);
    if (!status.ok()) return status;
    if (is_derivative) layer.CalculateDerivativeTile(data, tile);
  }
  return absl::OkStatus();
}

// Applies the gradients of a layer. If the plan changes weights layer by layer,
// the update is prepared only now, since PrepareUpdates did not run.
absl::Status StepRunner::ApplyUpdate(const Step& step, const StepData& data) {
  const WeightOptimizers optimizers = optimizers_.At(step.layer);
  if (!IsAtomic()) {
    const absl::Status status =
        PrepareGradients(data, optimizers, clip_value_, iteration_);
    if (!status.ok()) return status;
  }
  applied_end_ = static_cast<size_t>(&step - table_.steps().data()) + 1;
  return ApplyGradients(data, optimizers, iteration_);
}

absl::Status StepRunner::ApplyTiles(const Step& step, Slots slots,
                                    const StepData& data) {
  bool has_applied = false;
  const absl::Status status = ApplyGradientTiles(
      *layers_[step.layer], slots, data, optimizers_.At(step.layer),
      clip_value_, iteration_, &has_applied);
  if (has_applied) {
    applied_end_ = static_cast<size_t>(&step - table_.steps().data()) + 1;
  }
  return status;
}

// Checks that a recomputed output equals the forward step's bit for bit. The
// layer promises that, but it may be the user's own, so the first iteration
// compares fingerprints. With poisoning every iteration does.
absl::Status StepRunner::CheckRecomputed(const Step& step, Slots slots) {
  const bool again = step.kind == StepKind::kRecompute;
  const bool first = step.kind == StepKind::kForward && step.other != 0;
  if ((!again && !first) || (iteration_ > 1 && lifespan_checker_ == nullptr)) {
    return absl::OkStatus();
  }
  for (const StepData::Slot& slot : slots) {
    if (slot.operand.role != Role::kOutput) continue;
    // Bit 1 is set, since 0 and 1 mean that there is no fingerprint
    // (StepTable::Step::other).
    const uint32_t print =
        static_cast<uint32_t>(Fingerprint(slot.data, SizeBytes(*slot.spec))) |
        2;
    if (first) {
      table_.set_output_print(step, print);
    } else if (table_.steps()[step.other].other != print) {
      return absl::InvalidArgumentError(
          "Recompute does not give the output that Forward gave, bit for bit: "
          "mend it, or leave the signature's recompute.reads empty");
    }
  }
  return absl::OkStatus();
}

absl::Status StepRunner::RunSwap(const Step& step, const StepData& data) {
  const bool out = step.kind == StepKind::kSwapOut;
  const int64_t bytes = data.elements(out ? Role::kInput : Role::kOutput) *
                        int64_t{sizeof(float)};
  return out ? swapped_->Write(step.other, data.Read<char>(Role::kInput), bytes)
             : swapped_->Read(step.other, data.Write<char>(Role::kOutput),
                              bytes);
}

// The copies need no check, since they are made before any other step.
bool StepRunner::RestoreStatistics(size_t failed) {
  if (restore_step_ >= table_.steps().size()) return true;
  // After the restore step another tensor may use the memory of the copies,
  // unless several micro-batches need them.
  if (failed > restore_step_ && micro_batches_ == 1) return false;
  const Step& step = table_.steps()[restore_step_];
  CopyStatistics(MakeData(step, SlotsAt(step)), Role::kSaved,
                 Role::kRunningStatistic);
  return true;
}

// Returns the error that names the layer whose gradient is not finite.
absl::Status StepRunner::ExplainGradients() {
  for (const Step& step : table_.steps()) {
    if (step.kind != StepKind::kApplyGradient) continue;
    const absl::Status status = CheckFinite(SlotsAt(step), /*written=*/false);
    if (!status.ok()) return InLayer(step, status);
  }
  return absl::OutOfRangeError("a gradient is not finite");
}

// Returns the error that names the layer whose running statistic is not finite.
// In training the layer's output does not depend on it, so the loss may be
// finite.
absl::Status StepRunner::ExplainStatistics() {
  for (const Step& step : table_.steps()) {
    if (step.kind != StepKind::kForward) continue;
    for (const StepData::Slot& slot : SlotsAt(step)) {
      if (slot.operand.role != Role::kRunningStatistic) continue;
      const absl::Status status =
          CheckFinite(absl::MakeConstSpan(&slot, 1), /*written=*/true);
      if (!status.ok()) return InLayer(step, status);
    }
  }
  return absl::OutOfRangeError("a running statistic is not finite");
}

absl::Status StepRunner::InLayer(const Step& step,
                                 const absl::Status& status) const {
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat("layer \"", table_.LayerNameAt(step.layer).Text(), "\", ",
                   StepKindName(step.kind), ": ", status.message()));
}

StepRunner::Slots StepRunner::SlotsAt(const Step& step) {
  return table_.SlotsAt(step, {arena_.data(), buffers_->lent(), micro_batch_});
}

// Returns the data of a step; it refers to `slots`.
StepData StepRunner::MakeData(const Step& step, Slots slots) const {
  return StepData(slots, mode_, ComputeSeed(step.layer), *math_,
                  table_.LayerNameAt(step.layer), {micro_batch_, 0, 0});
}

uint64_t StepRunner::ComputeSeed(size_t layer) const {
  return MixBits(seed_ ^ RandomAt(static_cast<uint64_t>(layer),
                                  static_cast<uint64_t>(iteration_)));
}

}  // namespace footprint
