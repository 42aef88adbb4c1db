#include "footprint/profiling/schema/profile_text.h"

#include <string>

#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

MemoryProfile Example() {
  return FromText<MemoryProfile>(R"pb(
    schema_version: 1
    label: "//a:b"
    environment { allocator: "jemalloc 5.3.0" page_size_bytes: 4096 }
    process_count: 3
    remarks { about: "memo plan" text: "5 loads" }
    benchmarks {
      name: "BM_Load\x1b[2J\"\\\n\xc3\xa9/rows:1"
      arguments { name: "rows" value: "1" }
      metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1572864 }
      metrics { kind: NET_GROWTH_USABLE_BYTES determinism: BOUNDED value: -64 }
      metrics { kind: ALLOCATION_COUNT determinism: EXACT value: 0 }
      unrepeated: PEAK_MAPPED_BYTES
      forked_process_count: 2
      phases {
        name: "loop/read"
        parent: -1
        metrics { kind: ALLOCATION_COUNT determinism: EXACT value: 1200 }
        unrepeated: PEAK_LIVE_USABLE_BYTES
      }
      peak_attribution { site: "phase:fit" live_bytes: 1000 }
      mapped_attribution { site: "site:Map" live_bytes: 4096 }
    }
  )pb");
}

MemorySamples ExampleSamples() {
  return FromText<MemorySamples>(R"pb(
    schema_version: 1
    label: "//a:b"
    kernel: "Linux 6.1"
    cpu_model: "a processor"
    benchmarks {
      name: "BM_Load"
      metrics { kind: PEAK_RESIDENT_BYTES values: 4096 values: 8192 }
      metrics { kind: ALLOCATION_COUNT phase: "fit" values: 7 }
    }
  )pb");
}

TEST(ProfileTextTest, NamesAllThatAProfileHolds) {
  const std::string text = ProfileText(Example());
  for (const char* part :
       {"//a:b\n", "measured in 3 processes", "jemalloc 5.3.0",
        "pages of 4.00 KiB (4,096 B)", "memo plan: 5 loads",
        "BM_Load\\x1b[2J\"\\\\n\xc3\xa9/rows:1\n",
        "  peak live    1.50 MiB (1,572,864 B)  EXACT\n", "-64 B  BOUNDED\n",
        "  peak mapped: not EXACT; its values are in the samples\n",
        "not in the figures: 2\n", "  phase loop/read\n", "1,200  EXACT\n",
        "    peak live: not EXACT; its values are in the samples\n",
        "  live at the peak\n    phase:fit  1000 B\n",
        "  mapped at the peak of mapped bytes\n    site:Map  4.00 KiB "
        "(4,096 B)\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(ProfileTextTest, SaysWhyThereIsNoMeasurement) {
  EXPECT_THAT(ProfileText(FromText<MemoryProfile>(
                  "label: '//a:b' failure { kind: SIGNALLED signal_number: 9 "
                  "standard_error_tail: 'one\\ntwo' }")),
              AllOf(HasSubstr("no measurement: SIGNALLED by signal 9\n"),
                    HasSubstr("    one\n    two\n")));
  EXPECT_THAT(ProfileText(FromText<MemoryProfile>(
                  "failure { kind: EXITED exit_status: 3 detail: 'why' }")),
              HasSubstr("EXITED with status 3: why\n"));
  EXPECT_THAT(ProfileText(FromText<MemoryProfile>(
                  "failure { kind: TIMED_OUT time_limit_seconds: 60 }")),
              HasSubstr("TIMED_OUT after 60 s\n"));
}

TEST(ProfileTextTest, SamplesAreOneFigureAProcess) {
  EXPECT_THAT(SamplesText(ExampleSamples()),
              AllOf(HasSubstr("//a:b (samples)\n"),
                    HasSubstr("kernel: Linux 6.1; processor: a processor\n"),
                    HasSubstr("4.00 KiB (4,096 B), 8.00 KiB (8,192 B)\n"),
                    HasSubstr("phase fit, "), HasSubstr(" 7\n")));
}

// The oracle is protobuf's own reader of JSON.
template <typename Message>
void ExpectReadBack(const Message& message, const std::string& json) {
  Message again;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &again).ok())
      << json;
  EXPECT_EQ(again.SerializeAsString(), message.SerializeAsString()) << json;
}

TEST(ProfileTextTest, JsonReadsBack) {
  ExpectReadBack(Example(), ProfileJson(Example()));
  ExpectReadBack(ExampleSamples(), SamplesJson(ExampleSamples()));
  const MemoryProfile failed = FromText<MemoryProfile>(
      "schema_version: 1 failure { kind: EXITED exit_status: 3 }");
  ExpectReadBack(failed, ProfileJson(failed));
}

TEST(ProfileTextTest, JsonHasNumbersAsNumbersAndNoneOmitted) {
  const std::string json = ProfileJson(Example());
  EXPECT_THAT(json,
              AllOf(HasSubstr("\"value\": 1572864"), HasSubstr("\"value\": 0"),
                    HasSubstr("\"kind\": \"ALLOCATION_COUNT\""),
                    Not(HasSubstr("complete")), Not(HasSubstr("failure"))));
}

}  // namespace
}  // namespace footprint
