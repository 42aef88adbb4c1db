#include "footprint/trainer_manager/training/loop_state.h"

#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

LoopState SomeState() {
  LoopState state;
  state.rows = 1437;
  state.batches = 45;
  state.loss_sum = 1.0 / 3;
  state.loss_rows = 320;
  state.best_loss = 0.1;
  state.best_epoch = 4;
  state.worse_epochs = 2;
  state.plateau_epochs = 1;
  state.reductions = 3;
  state.stopped_early = true;
  return state;
}

TEST(LoopStateTest, NotesGiveTheStateBack) {
  for (const LoopState& state : {SomeState(), LoopState()}) {
    const auto read = FromNotes(ToNotes(state));
    ASSERT_THAT(read, IsOk());
    EXPECT_EQ(read->rows, state.rows);
    EXPECT_EQ(read->batches, state.batches);
    EXPECT_EQ(read->loss_sum, state.loss_sum);
    EXPECT_EQ(read->loss_rows, state.loss_rows);
    EXPECT_EQ(read->best_loss, state.best_loss);
    EXPECT_EQ(read->best_epoch, state.best_epoch);
    EXPECT_EQ(read->worse_epochs, state.worse_epochs);
    EXPECT_EQ(read->plateau_epochs, state.plateau_epochs);
    EXPECT_EQ(read->reductions, state.reductions);
    EXPECT_EQ(read->stopped_early, state.stopped_early);
    EXPECT_TRUE(*read == state);
  }
  EXPECT_FALSE(SomeState() == LoopState());
}

TEST(LoopStateTest, EachNoteMustBeThereAndBeANumber) {
  const TrainingNotes notes = ToNotes(SomeState());
  EXPECT_EQ(notes.size(), 10u);
  for (const auto& [name, value] : notes) {
    TrainingNotes fewer = notes;
    fewer.erase(name);
    EXPECT_THAT(std::string(FromNotes(fewer).status().message()),
                HasSubstr(name + " is missing"));
    for (const char* const bad : {"", "x", "1x"}) {
      TrainingNotes wrong = notes;
      wrong[name] = bad;
      const absl::Status status = FromNotes(wrong).status();
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
      EXPECT_THAT(std::string(status.message()), HasSubstr(name));
    }
  }
  TrainingNotes below = notes;
  below["loop.rows"] = "-1";
  EXPECT_THAT(FromNotes(below), Not(IsOk()));
  TrainingNotes not_a_number = notes;
  not_a_number["loop.loss_sum"] = "nan";
  EXPECT_THAT(FromNotes(not_a_number), Not(IsOk()));
}

}  // namespace
}  // namespace footprint
