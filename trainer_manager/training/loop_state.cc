#include "footprint/trainer_manager/training/loop_state.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace footprint {
namespace {

// Calls visit(name, member) for each number.
template <typename State, typename Visit>
void ForEachNumber(State& state, const Visit& visit) {
  visit("loop.rows", state.rows);
  visit("loop.batches", state.batches);
  visit("loop.loss_sum", state.loss_sum);
  visit("loop.loss_rows", state.loss_rows);
  visit("loop.best_loss", state.best_loss);
  visit("loop.best_epoch", state.best_epoch);
  visit("loop.worse_epochs", state.worse_epochs);
  visit("loop.plateau_epochs", state.plateau_epochs);
  visit("loop.reductions", state.reductions);
  visit("loop.stopped_early", state.stopped_early);
}

std::string FormatNumber(double value) {
  return absl::StrFormat("%.17g", value);  // enough digits to restore the value
}
std::string FormatNumber(int64_t value) { return absl::StrCat(value); }
std::string FormatNumber(bool value) { return value ? "1" : "0"; }

bool Parse(const std::string& text, double* value) {
  return absl::SimpleAtod(text, value) && *value == *value;
}
bool Parse(const std::string& text, int64_t* value) {
  return absl::SimpleAtoi(text, value) && *value >= 0;
}
bool Parse(const std::string& text, bool* value) {
  *value = text == "1";
  return text == "0" || text == "1";
}

}  // namespace

bool operator==(const LoopState& a, const LoopState& b) {
  return ToNotes(a) == ToNotes(b);
}

TrainingNotes ToNotes(const LoopState& state) {
  TrainingNotes notes;
  ForEachNumber(state, [&notes](const char* name, const auto& value) {
    notes[name] = FormatNumber(value);
  });
  return notes;
}

absl::StatusOr<LoopState> FromNotes(const TrainingNotes& notes) {
  LoopState state;
  absl::Status status;
  ForEachNumber(state, [&](const char* name, auto& value) {
    const auto found = notes.find(name);
    if (!status.ok() ||
        (found != notes.end() && Parse(found->second, &value))) {
      return;
    }
    status = absl::InvalidArgumentError(
        found == notes.end()
            ? absl::StrCat("the note ", name,
                           " is missing: the file was not "
                           "saved by Train; ResumeTraining reads it")
            : absl::StrCat("the note ", name, " is \"", found->second,
                           "\", which is no valid number"));
  });
  if (!status.ok()) return status;
  return state;
}

}  // namespace footprint
