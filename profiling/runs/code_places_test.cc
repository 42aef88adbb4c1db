// Tests what code_places.h promises.

#include "footprint/profiling/runs/code_places.h"

#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::string FunctionAt(const MeasuredRun& run, uint32_t call) {
  const CodePlaces places(run);
  return places.FindShownFrame(places.OfCall(call)).function();
}

TEST(CodePlacesTest, ThePlaceIsTheInnermostCallThatDoesNotServeItsCaller) {
  const MeasuredRun run = NestedRun();
  EXPECT_EQ(FunctionAt(run, 5), "Fit");
  EXPECT_EQ(FunctionAt(run, 2), "Fit");
  EXPECT_EQ(FunctionAt(run, 1), "main");
}

TEST(CodePlacesTest, WhereThereIsNoCallNothingWasRecorded) {
  const MeasuredRun run = NestedRun();
  const CodePlaces places(run);
  EXPECT_EQ(places.OfCall(0), CodePlaces::kNowhere);
  EXPECT_EQ(places.OfCall(6), CodePlaces::kNowhere) << "no call of the run";
  EXPECT_EQ(places.FrameAt(CodePlaces::kNowhere), nullptr);
  const CodeFrame& frame = places.FindShownFrame(CodePlaces::kNowhere);
  EXPECT_EQ(frame.function(), "[before the agent began]");
  EXPECT_EQ(frame.kind(), CodeFrame::UNKNOWN);
}

TEST(CodePlacesTest, WhereEachServesTheInnermostStands) {
  MeasuredRun run;
  run.add_frames()->set_function("operator new");
  run.mutable_frames(0)->set_kind(CodeFrame::ALLOCATOR);
  run.add_calls();
  EXPECT_EQ(FunctionAt(run, 1), "operator new");
}

// A library without known lines allocates for the line of Python that called
// it. A library with known lines is a place by itself.
TEST(CodePlacesTest, BelowPythonALineIsThePlace) {
  MeasuredRun run = NestedRun();
  run.mutable_frames(0)->set_kind(CodeFrame::PYTHON);
  EXPECT_EQ(FunctionAt(run, 5), "main");
  run.mutable_frames(1)->set_line(7);
  EXPECT_EQ(FunctionAt(run, 5), "Fit");
  EXPECT_EQ(FunctionAt(run, 1), "main");
}

TEST(CodePlacesTest, FramesAreOnePlaceByFunctionFileLineAndObject) {
  MeasuredRun run;
  const auto add = [&run](const char* function, const char* file, int line,
                          const char* module) {
    CodeFrame* const frame = run.add_frames();
    frame->set_function(function);
    frame->set_file(file);
    frame->set_line(line);
    frame->set_module(module);
    run.add_calls()->set_frame(static_cast<uint32_t>(run.frames_size()) - 1);
  };
  add("Fit", "fit.cc", 3, "libfit.so");
  add("Fit", "fit.cc", 3, "libfit.so");
  run.mutable_frames(1)->set_is_inlined(true);
  add("Fix", "fit.cc", 3, "libfit.so");
  add("Fit", "fix.cc", 3, "libfit.so");
  add("Fit", "fit.cc", 4, "libfit.so");
  add("Fit", "fit.cc", 3, "libfix.so");
  const CodePlaces places(run);
  EXPECT_EQ(places.size(), 6u) << "one is nowhere";
  EXPECT_EQ(places.OfCall(1), places.OfCall(2));
  for (uint32_t call = 3; call <= 6; ++call) {
    EXPECT_NE(places.OfCall(call), places.OfCall(call - 1)) << call;
    EXPECT_NE(places.OfCall(call), places.OfCall(1)) << call;
  }
}

// Applies the rule call by call from the inside.
const CodeFrame* NaivePlace(const MeasuredRun& run, uint32_t call) {
  const CodeFrame* innermost = nullptr;
  const CodeFrame* with_line = nullptr;
  const auto call_at = [&run](uint32_t number) -> const Call& {
    return run.calls(static_cast<int>(number) - 1);
  };
  const auto frame_of = [&](uint32_t number) {
    return &run.frames(static_cast<int>(call_at(number).frame()));
  };
  for (uint32_t each = call; each != 0; each = call_at(each).parent()) {
    const CodeFrame* const frame = frame_of(each);
    if (ServesItsCaller(*frame)) continue;
    if (innermost == nullptr) innermost = frame;
    if (frame->kind() == CodeFrame::PYTHON) {
      return with_line != nullptr ? with_line : frame;
    }
    if (with_line == nullptr && frame->line() > 0) with_line = frame;
  }
  return innermost != nullptr ? innermost : frame_of(call);
}

TEST(CodePlacesTest, EachCallsPlaceIsThatOfTheRule) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    const CodePlaces places(run);
    for (int call = 1; call <= run.calls_size(); ++call) {
      const auto number = static_cast<uint32_t>(call);
      EXPECT_EQ(places.FindShownFrame(places.OfCall(number)).function(),
                NaivePlace(run, number)->function())
          << seed << " " << call;
    }
  }
}

}  // namespace
}  // namespace footprint
