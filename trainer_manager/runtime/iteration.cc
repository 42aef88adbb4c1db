#include "footprint/trainer_manager/runtime/iteration.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/runtime/lifespan_checker.h"

namespace footprint {

absl::StatusOr<float> Iteration::Train() {
  runner_->BeginIteration();
  const size_t step_count = runner_->table().steps().size();
  const int64_t parts = runner_->micro_batches();
  double loss = 0;
  for (int64_t part = 0; part < parts; ++part) {
    const double weight = buffers_->WeighMicroBatch(part);
    runner_->set_micro_batch(part, weight);
    size_t failed = 0;
    absl::Status status = RunForward(&failed);
    if (status.ok()) {
      loss += weight * static_cast<double>(*buffers_->loss());
      status = runner_->Run(runner_->loss_step() + 1, step_count, &failed);
    }
    if (!status.ok()) return Undo(status, failed);
  }
  return static_cast<float>(loss / static_cast<double>(parts));
}

absl::Status Iteration::RunForward(size_t* failed) {
  const size_t loss_step = runner_->loss_step();
  const absl::Status status = runner_->Run(0, loss_step + 1, failed);
  if (!status.ok() || std::isfinite(*buffers_->loss())) return status;
  runner_->RestoreStatistics(loss_step);
  *failed = loss_step;
  return CheckLoss();
}

absl::Status Iteration::CheckLoss() {
  const float* const loss = buffers_->loss();
  if (loss == nullptr || std::isfinite(*loss)) return absl::OkStatus();
  return ExplainForward(absl::StrCat("the loss is ", *loss),
                        runner_->loss_step() + 1);
}

// Undoes the iteration as far as possible. The message says which weights have
// changed.
absl::Status Iteration::Undo(const absl::Status& status, size_t failed) {
  std::string changed;
  for (const StepRunner::Step& step : runner_->table().steps()) {
    if (!runner_->HasApplied(step)) continue;
    absl::StrAppend(&changed, changed.empty() ? "\"" : ", \"",
                    runner_->table().LayerNameAt(step.layer).Text(), "\"");
  }
  if (!changed.empty()) {
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(), "; the weights of ", changed,
                     " have changed already: load the last saved ones",
                     runner_->IsAtomic()
                         ? ""
                         : "; MemoryOptions::atomic_steps refuses before the "
                           "first changes"));
  }
  runner_->CancelIteration();
  if (runner_->RestoreStatistics(failed)) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(),
                   "; no weight has changed, but running statistics have: "
                   "MemoryOptions::atomic_steps restores them"));
}

absl::Status Iteration::Infer() {
  const size_t step_count = runner_->table().steps().size();
  size_t failed = 0;
  absl::Status status = runner_->Run(0, step_count, &failed);
  if (status.ok()) status = CheckLoss();
  if (!status.ok()) return status;
  const std::string what = buffers_->FirstOutputNotFinite();
  return what.empty() ? status : ExplainForward(what, step_count);
}

absl::Status Iteration::InFirstReader(const void* value,
                                      const absl::Status& status) {
  runner_->set_micro_batch(0);
  const auto forward =
      runner_->table().steps().subspan(0, runner_->loss_step() + 1);
  for (const StepRunner::Step& step : forward) {
    for (const StepData::Slot& slot : runner_->SlotsAt(step)) {
      if (slot.data == value) return runner_->InLayer(step, status);
    }
  }
  return status;
}

// Runs the forward steps again to find where the first NaN or infinity appears.
absl::Status Iteration::ExplainForward(const std::string& what, size_t end) {
  for (size_t s = 0; s < end; ++s) {
    const StepRunner::Step& step = runner_->table().steps()[s];
    const bool checked = step.kind != StepKind::kCopyStatistics;
    absl::Status status;
    if (checked)
      status =
          runner_->InLayer(step, CheckFinite(runner_->SlotsAt(step), false));
    if (status.ok()) status = runner_->RunStep(s);
    if (status.ok() && checked) {
      status =
          runner_->InLayer(step, CheckFinite(runner_->SlotsAt(step), true));
    }
    if (status.ok()) continue;
    return absl::Status(status.code(),
                        absl::StrCat(what, "; first in ", status.message()));
  }
  return absl::OutOfRangeError(what);
}

}  // namespace footprint
