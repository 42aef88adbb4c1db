#include "footprint/memo/product/trace_recorder.h"

#include <string>

#include "absl/status/status.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

// A parser refuses a whole trace for one text that is not UTF-8.
TEST(TraceRecorderTest, TextsOfAnyBytesCanBeReadAgain) {
  MemoTrace trace;
  TraceRecorder recorder(&trace);
  recorder.RecordProblem(MemoEvent::TASK_FAILED, "fit \xe9",
                         absl::NotFoundError("caf\xe9.csv"));
  MemoTrace read;
  ASSERT_TRUE(read.ParseFromString(trace.SerializeAsString()));
  ASSERT_EQ(read.events_size(), 1);
  EXPECT_NE(read.events(0).detail().find("caf"), std::string::npos);
  EXPECT_TRUE(recorder.had_problem());
}

TEST(TraceRecorderTest, EventsHaveTheBytesThatAreAlive) {
  MemoTrace trace;
  TraceRecorder recorder(&trace);
  recorder.SetLive("model", 100);
  recorder.SetLive("data", 20);
  EXPECT_EQ(recorder.AddEvent(MemoEvent::LOADED, "data", 20)->live_bytes(),
            120);
  EXPECT_EQ(recorder.EndLife("model"), 100);
  EXPECT_EQ(recorder.EndLife("model"), 0);
  EXPECT_FALSE(recorder.IsLive("model"));
  EXPECT_EQ(recorder.LiveBytes(), 20);
}

}  // namespace
}  // namespace footprint::memo_internal
