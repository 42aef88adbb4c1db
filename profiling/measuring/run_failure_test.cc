// Tests what run_failure.h promises.

#include "footprint/profiling/measuring/run_failure.h"

#include "footprint/profiling/measuring/fresh_process.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int kLimitSeconds = 9;

TEST(RunFailureTest, OnlyStatusZeroIsAGoodEnd) {
  ProcessEnd end;
  end.kind = ProcessEnd::Kind::kExited;
  ProducerFailure failure;
  EXPECT_TRUE(EndedWell(end, kLimitSeconds, &failure));
  end.exit_status = 3;
  EXPECT_FALSE(EndedWell(end, kLimitSeconds, &failure));
  EXPECT_EQ(failure.kind(), ProducerFailure::EXITED);
  EXPECT_EQ(failure.exit_status(), 3);
}

TEST(RunFailureTest, ASignalATimeLimitAndAFailedStartAreTold) {
  ProcessEnd end;
  ProducerFailure failure;
  end.kind = ProcessEnd::Kind::kSignalled;
  end.signal_number = 11;
  EXPECT_FALSE(EndedWell(end, kLimitSeconds, &failure));
  EXPECT_EQ(failure.signal_number(), 11);
  end.kind = ProcessEnd::Kind::kTimedOut;
  EXPECT_FALSE(EndedWell(end, kLimitSeconds, &failure));
  EXPECT_EQ(failure.time_limit_seconds(), kLimitSeconds);
  end.kind = ProcessEnd::Kind::kNotStarted;
  end.start_error = "executing it: no such file";
  EXPECT_FALSE(EndedWell(end, kLimitSeconds, &failure));
  EXPECT_EQ(failure.detail(), end.start_error);
}

TEST(RunFailureTest, TextsDoNotTellWhereItRan) {
  ProcessEnd end;
  end.process_id = 4321;
  end.standard_error_tail = "/tmp/footprint-Ab12Cd/x: process 4321 is lost\n";
  ProducerFailure failure;
  failure.set_detail("see /tmp/footprint-Ab12Cd/y");
  MakeStable({"/tmp/footprint-Ab12Cd"}, end, &failure);
  EXPECT_EQ(failure.standard_error_tail().find("Ab12Cd"), std::string::npos);
  EXPECT_EQ(failure.standard_error_tail().find("4321"), std::string::npos);
  EXPECT_EQ(failure.detail().find("Ab12Cd"), std::string::npos);
}

TEST(RunFailureTest, LastWordsThatAreThereStay) {
  ProcessEnd end;
  end.standard_error_tail = "later";
  ProducerFailure failure;
  failure.set_standard_error_tail("earlier");
  MakeStable({}, end, &failure);
  EXPECT_EQ(failure.standard_error_tail(), "earlier");
}

}  // namespace
}  // namespace footprint
