#include "footprint/gates/fleet/device_fit.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

template <typename Message>
Message Text(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message))
      << text;
  return message;
}

FleetSource Source() {
  const FleetSource source = ParseFleetFile("f.textproto", R"(
    schema_version: 1
    device {
      name: "box" ram: "1000" reserve: "100"
      deployment: "small" deployment: "large"
    }
    deployment { name: "small" label: "//a:small" }
    deployment { name: "large" label: "//a:large" benchmark: "BM_Fit/*" }
    deployment { name: "other" label: "//a:other" })");
  EXPECT_THAT(source.problems, IsEmpty());
  return source;
}

MemoryProfile MakeProfile(const std::string& label, const std::string& text) {
  MemoryProfile profile = Text<MemoryProfile>(text);
  profile.set_label(label);
  return profile;
}

std::vector<MemoryProfile> Profiles() {
  return {MakeProfile("//a:small", R"pb(
            benchmarks {
              name: "BM_X"
              metrics { kind: PEAK_LIVE_USABLE_BYTES value: 90 }
              metrics { kind: PEAK_LIVE_ABSOLUTE_USABLE_BYTES value: 100 }
              metrics { kind: PEAK_MAPPED_BYTES value: 20 }
              metrics { kind: IMAGE_BYTES value: 3 }
            })pb"),
          MakeProfile("//a:large", R"pb(
            benchmarks {
              name: "BM_Fit/rows:1"
              metrics { kind: PEAK_LIVE_USABLE_BYTES value: 300 }
            }
            benchmarks {
              name: "BM_Fit/rows:2"
              metrics { kind: PEAK_LIVE_USABLE_BYTES value: 400 }
            }
            benchmarks {
              name: "BM_Load"
              metrics { kind: PEAK_LIVE_USABLE_BYTES value: 900 }
            })pb"),
          MakeProfile("//a:other", R"pb(
            benchmarks {
              name: "BM_X"
              metrics { kind: SUM_THREAD_PEAK_USABLE_BYTES value: 400 }
            })pb")};
}

absl::StatusOr<DeviceFit> Fit(const WhatIf& what_if = {},
                              const std::string& device = "box",
                              const std::vector<MemorySamples>& samples = {}) {
  return FitDevice(Source(), device, what_if, Profiles(), samples);
}

TEST(DeviceFitTest, WorstPeaksAreAdded) {
  const absl::StatusOr<DeviceFit> fit = Fit();
  ASSERT_THAT(fit, IsOk());
  ASSERT_THAT(fit->needs, SizeIs(2));
  EXPECT_EQ(fit->needs[0].name, "large");
  EXPECT_EQ(fit->needs[0].benchmark, "BM_Fit/rows:2");
  EXPECT_EQ(fit->needs[1].peak_bytes(), 123);
  EXPECT_EQ(fit->sum_bytes(), 523);
  EXPECT_EQ(fit->margin_bytes(), 377);
  EXPECT_THAT(FitText(*fit), HasSubstr("FITS box, 377 B left of 1000 B"));
}

TEST(DeviceFitTest, AResidentSetAboveTheHeapCounts) {
  const std::vector<MemorySamples> samples = {Text<MemorySamples>(R"pb(
    label: "//a:small"
    benchmarks {
      name: "BM_X"
      metrics {
        kind: PEAK_RESIDENT_BYTES
        values: [ 480, 500, 490 ]
      }
      metrics { kind: RESIDENT_FILE_BYTES values: 999 }
      metrics { kind: PEAK_RESIDENT_BYTES phase: "fit" values: 998 }
    })pb")};
  const absl::StatusOr<DeviceFit> fit = Fit({}, "box", samples);
  ASSERT_THAT(fit, IsOk());
  EXPECT_EQ(fit->margin_bytes(), 0);
  EXPECT_THAT(FitText(*fit), HasSubstr("resident"));
  EXPECT_THAT(FitText(*fit), HasSubstr("FITS box, 0 B left"));
}

TEST(DeviceFitTest, WhatIf) {
  WhatIf what_if;
  what_if.with = {"other"};
  EXPECT_EQ(Fit(what_if)->margin_bytes(), -23);
  EXPECT_THAT(FitText(*Fit(what_if)),
              HasSubstr("DOES NOT FIT box, 23 B too much"));
  what_if.without = {"small"};
  EXPECT_EQ(Fit(what_if)->margin_bytes(), 100);
  what_if.ram_bytes = 2000;
  EXPECT_EQ(Fit(what_if)->margin_bytes(), 1100);
}

void ExpectError(const absl::StatusOr<DeviceFit>& fit, absl::StatusCode code,
                 const std::string& part) {
  EXPECT_EQ(fit.status().code(), code);
  EXPECT_THAT(std::string(fit.status().message()), HasSubstr(part));
}

TEST(DeviceFitTest, UnknownNamesSayWhereAndWhatToDo) {
  ExpectError(Fit({}, "bix"), absl::StatusCode::kNotFound,
              "f.textproto: has no device \"bix\" (did you mean \"box\"?)");
  WhatIf what_if;
  what_if.with = {"othr"};
  ExpectError(Fit(what_if), absl::StatusCode::kNotFound,
              "f.textproto: has no deployment \"othr\" (did you mean "
              "\"other\"?)");
  what_if.with = {"small"};
  ExpectError(Fit(what_if), absl::StatusCode::kInvalidArgument,
              "runs on \"box\" anyway");
  what_if = {};
  what_if.without = {"other"};
  ExpectError(Fit(what_if), absl::StatusCode::kInvalidArgument,
              "does not run on \"box\"");
  what_if = {};
  what_if.ram_bytes = 0;
  ExpectError(Fit(what_if), absl::StatusCode::kInvalidArgument,
              "must be more than 0 bytes");
}

// The device exists; it is only too small.
TEST(DeviceFitTest, ADeviceSmallerThanItsReserveDoesNotFit) {
  WhatIf what_if;
  what_if.ram_bytes = 100;
  EXPECT_EQ(Fit(what_if)->margin_bytes(), -523);
  EXPECT_THAT(FitText(*Fit(what_if)),
              HasSubstr("DOES NOT FIT box, 523 B too much of 100 B"));
}

TEST(DeviceFitTest, ADeviceThatRunsNothingIsNoFit) {
  const FleetSource source = ParseFleetFile("f.textproto", R"(
    schema_version: 1
    device { name: "bare" ram: "1000" }
    deployment { name: "small" label: "//a:small" })");
  ExpectError(FitDevice(source, "bare", {}, Profiles(), {}),
              absl::StatusCode::kInvalidArgument,
              "f.textproto: no deployment runs on \"bare\"");
  WhatIf what_if;
  what_if.with = {"small"};
  EXPECT_THAT(FitDevice(source, "bare", what_if, Profiles(), {}), IsOk());
}

TEST(DeviceFitTest, APeakThatIsNotKnownIsNotZero) {
  const auto fit = [](std::vector<MemoryProfile> profiles) {
    return FitDevice(Source(), "box", {}, profiles, {});
  };
  std::vector<MemoryProfile> profiles = Profiles();
  profiles[0].mutable_benchmarks(0)->clear_metrics();
  ExpectError(fit(profiles), absl::StatusCode::kFailedPrecondition,
              "the peak of BM_X is not known");
  profiles = Profiles();
  profiles[0].mutable_failure();
  ExpectError(fit(profiles), absl::StatusCode::kFailedPrecondition,
              "has a failure");
  profiles = Profiles();
  profiles.erase(profiles.begin());
  ExpectError(fit(profiles), absl::StatusCode::kNotFound,
              "deployment \"small\" is //a:small, of which no profile");
}

}  // namespace
}  // namespace footprint
