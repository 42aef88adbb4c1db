#include "footprint/gates/judge/producer_failure.h"

#include <set>
#include <string>

#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(ProducerFailureTest, SaysHowItEndedAndQuotesIt) {
  ProducerFailure failure;
  failure.set_kind(ProducerFailure::SIGNALLED);
  failure.set_signal_number(9);
  failure.set_standard_error_tail("reading rows\nout of patience\n");
  const std::string text = DescribeFailure(failure);
  EXPECT_THAT(text, HasSubstr("killed by signal 9 (often: out of memory)"));
  EXPECT_THAT(text, HasSubstr("reading rows\nout of patience\n"));
  failure.set_signal_number(11);
  failure.set_detail("in process 2");
  failure.clear_standard_error_tail();
  EXPECT_EQ(DescribeFailure(failure),
            "gave no measurement: it was killed by signal 11: in process 2; it "
            "wrote nothing to its standard error");
}

TEST(ProducerFailureTest, SaysTheNumbers) {
  ProducerFailure failure;
  failure.set_kind(ProducerFailure::EXITED);
  failure.set_exit_status(3);
  EXPECT_THAT(DescribeFailure(failure), HasSubstr("exited with status 3"));
  failure.set_kind(ProducerFailure::TIMED_OUT);
  failure.set_time_limit_seconds(60);
  EXPECT_THAT(DescribeFailure(failure), HasSubstr("stopped after 60 s"));
}

TEST(ProducerFailureTest, EveryKindHasWordsOfItsOwn) {
  std::set<std::string> texts;
  const auto* kinds = ProducerFailure::Kind_descriptor();
  for (int i = 0; i < kinds->value_count(); ++i) {
    ProducerFailure failure;
    failure.set_kind(
        static_cast<ProducerFailure::Kind>(kinds->value(i)->number()));
    EXPECT_TRUE(texts.insert(DescribeFailure(failure)).second)
        << kinds->value(i)->number();
  }
}

}  // namespace
}  // namespace footprint
