// Tests of the promises of place_figures.h.

#include "footprint/profiling/run_page/place_figures.h"

#include <map>
#include <string>
#include <tuple>

#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "footprint/profiling/runs/site_rows.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Key = std::tuple<std::string, std::string, int, std::string>;

Key KeyOf(const CodeFrame& frame) {
  return {frame.function(), frame.file(), frame.line(), frame.module()};
}

// Rows that are found stack by stack.
TEST(PlaceFiguresTest, AgreesWithTheRowsOfSites) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    for (const MeasuredImage& image : run.images()) {
      std::map<Key, SummedAmount> expected;
      for (const SiteRow& row : SiteRows(run, image)) {
        if (row.at_peak.bytes() == 0) continue;
        expected[KeyOf(row.frame)].Add(row.at_peak);
      }
      std::map<Key, SummedAmount> found;
      for (const PlaceFigures& place : FiguresByPlace(run, image)) {
        if (place.at_peak.bytes == 0) continue;
        CodeFrame before;
        before.set_function("[before the agent began]");
        found[KeyOf(place.frame == nullptr ? before : *place.frame)].Add(
            place.at_peak);
      }
      ASSERT_EQ(found.size(), expected.size()) << seed;
      for (const auto& [key, amount] : expected) {
        EXPECT_EQ(found[key].bytes, amount.bytes) << seed;
        EXPECT_EQ(found[key].count, amount.count) << seed;
        EXPECT_DOUBLE_EQ(found[key].variance, amount.variance) << seed;
      }
    }
  }
}

TEST(PlaceFiguresTest, KeepsWhatWasLiveWhenApart) {
  MeasuredRun run = NestedRun();
  SiteAmounts* const site = run.add_images()->add_sites();
  site->set_call(4);
  site->mutable_at_peak()->set_bytes(5);
  site->mutable_at_end()->set_bytes(3);
  site->mutable_allocated()->set_bytes(7);
  SummedAmount at_end;
  SummedAmount allocated;
  for (const PlaceFigures& place : FiguresByPlace(run, run.images(0))) {
    at_end.bytes += place.at_end.bytes;
    allocated.bytes += place.allocated.bytes;
  }
  EXPECT_EQ(at_end.bytes, 3);
  EXPECT_EQ(allocated.bytes, 7);
}

TEST(PlaceFiguresTest, AddsCopiesAndProcessorTime) {
  const MeasuredRun run = FullRun();
  int64_t copied_bytes = 0;
  int64_t native_ns = 0;
  int64_t interpreter_ns = 0;
  int64_t system_ns = 0;
  int64_t temporary_count = 0;
  for (const PlaceFigures& place : FiguresByPlace(run, run.images(0))) {
    copied_bytes += place.copied.bytes;
    native_ns += place.native_ns;
    interpreter_ns += place.interpreter_ns;
    system_ns += place.system_ns;
    temporary_count += place.temporary_count;
    if (place.copied.bytes > 0) {
      EXPECT_EQ(place.frame->function(), "PyArray_NewFromDescr");
    }
  }
  EXPECT_EQ(copied_bytes, 25 << 20);
  EXPECT_EQ(native_ns, 2'000'000'000);
  EXPECT_EQ(interpreter_ns, 500'000'000);
  EXPECT_EQ(system_ns, 250'000'000);
  EXPECT_EQ(temporary_count, 30);
}

}  // namespace
}  // namespace footprint
