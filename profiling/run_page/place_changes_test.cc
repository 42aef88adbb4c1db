// Tests of the promises of place_changes.h.

#include "footprint/profiling/run_page/place_changes.h"

#include <map>
#include <string>

#include "footprint/profiling/example_runs/example_runs.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMiB = 1 << 20;

std::map<std::string, AmountChange> ChangesAtPeak(const MeasuredRun& before,
                                                  const MeasuredRun& after) {
  std::map<std::string, AmountChange> changes;
  for (const PlaceChange& change : ChangesByPlace(before, after)) {
    changes[change.frame == nullptr ? "" : change.frame->function()] =
        change.at_peak;
  }
  return changes;
}

TEST(PlaceChangesTest, TellsSureChangesFromChance) {
  auto changes = ChangesAtPeak(FullRun(), FullRunLater());
  EXPECT_EQ(changes["PyArray_NewFromDescr"].bytes(), 2 * kMiB);
  EXPECT_TRUE(changes["PyArray_NewFromDescr"].is_sure());
  EXPECT_NEAR(changes["PyArray_NewFromDescr"].sigma(), 141'442, 1);
  EXPECT_EQ(changes["PyType_New"].bytes(), 1000);
  EXPECT_FALSE(changes["PyType_New"].is_sure());
  EXPECT_EQ(changes["libz.so+0x1234"].bytes(), 0);
  EXPECT_FALSE(changes["libz.so+0x1234"].is_sure());
}

TEST(PlaceChangesTest, IsSureOfEveryChangeOfAnExactFigure) {
  AmountChange change;
  change.after.bytes = 1;
  EXPECT_TRUE(change.is_sure());
  change.before.bytes = 1;
  EXPECT_FALSE(change.is_sure());
}

TEST(PlaceChangesTest, FollowsALineThatMoved) {
  MeasuredRun later = FullRun();
  for (CodeFrame& frame : *later.mutable_frames()) {
    if (frame.line() > 0) frame.set_line(frame.line() + 5);
    frame.set_module("/elsewhere" + frame.module());
  }
  for (const auto& [name, change] : ChangesAtPeak(FullRun(), later)) {
    if (name == "<module>") continue;  // two places have that name
    EXPECT_EQ(change.bytes(), 0) << name;
  }
}

TEST(PlaceChangesTest, HoldsPlacesOfOneRunOnly) {
  auto changes = ChangesAtPeak(FullRun(), RunNamed("other"));
  EXPECT_EQ(changes["PyArray_NewFromDescr"].bytes(), -7 * kMiB);
  int64_t sum = 0;
  for (const PlaceChange& change :
       ChangesByPlace(FullRun(), RunNamed("other"))) {
    sum += change.at_peak.bytes();
  }
  EXPECT_EQ(sum, 0);
}

}  // namespace
}  // namespace footprint
