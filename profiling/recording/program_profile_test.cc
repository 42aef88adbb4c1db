#include "footprint/profiling/recording/program_profile.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/opaque_block.h"
#include "footprint/profiling/recording/memory_phase.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "footprint/profiling/schema/metric_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

constexpr int64_t kBlockBytes = 1 << 20;  // a size that jemalloc does not round

int64_t Value(const google::protobuf::RepeatedPtrField<Metric>& metrics,
              MetricKind kind) {
  for (const Metric& metric : metrics) {
    if (metric.kind() == kind) return metric.value();
  }
  return -1;
}

// Does what a program's main does, up to its end.
absl::Status RunProgram(const std::string& path) {
  std::string name = "/opt/bin/program";
  std::string flag = "--memory_profile_out=" + path;
  std::vector<char*> argv = {name.data(), flag.data(), nullptr};
  int argc = 2;
  ProgramProfile profile(&argc, argv.data());
  if (argc != 1) return absl::InternalError("the flag was not taken");
  if (!profile.IsWanted()) return absl::InternalError("no profile is wanted");
  profile.SetName("program");
  profile.AddArgument("rows", "1000");
  {
    MemoryPhase phase("fit");
    std::free(Opaque(std::malloc(2 * kBlockBytes)));
  }
  return profile.Write();
}

TEST(ProgramProfileTest, MeasuresTheRunAndItsPhases) {
  const std::string path = testing::TempDir() + "/program.binpb";
  void* before = Opaque(std::malloc(kBlockBytes));
  const absl::Status status = RunProgram(path);
  std::free(before);
  ASSERT_THAT(status, IsOk());
  const absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(path);
  ASSERT_THAT(profile, IsOk());
  ASSERT_EQ(profile->benchmarks_size(), 1);
  const BenchmarkMemory& program = profile->benchmarks(0);
  EXPECT_EQ(program.name(), "program/rows:1000");
  EXPECT_GE(Value(program.metrics(), PEAK_LIVE_USABLE_BYTES), 3 * kBlockBytes);

  ASSERT_EQ(program.phases_size(), 2);
  const Phase& startup = program.phases(0);
  EXPECT_EQ(startup.name(), "startup");
  EXPECT_GE(Value(startup.metrics(), PEAK_LIVE_USABLE_BYTES), kBlockBytes);
  EXPECT_LT(Value(startup.metrics(), PEAK_LIVE_USABLE_BYTES), 2 * kBlockBytes);
  EXPECT_GT(Value(startup.metrics(), IMAGE_BYTES), 0);
  const Phase& fit = program.phases(1);
  EXPECT_EQ(fit.name(), "fit");
  EXPECT_EQ(fit.parent(), -1);
  EXPECT_EQ(Value(fit.metrics(), PEAK_LIVE_USABLE_BYTES), 2 * kBlockBytes);
}

std::vector<int> Kinds(
    const google::protobuf::RepeatedPtrField<Metric>& metrics) {
  std::vector<int> kinds;
  for (const Metric& metric : metrics) kinds.push_back(metric.kind());
  return kinds;
}

std::vector<int> HeapKinds() {
  std::vector<int> kinds;
#define FOOTPRINT_KIND(kind, unit, short_name, quantity, ...)    \
  if (HeapQuantity::quantity != HeapQuantity::kRequestedBytes || \
      RequestedBytesAreCounted()) {                              \
    kinds.push_back(kind);                                       \
  }
  FOOTPRINT_HEAP_METRICS(FOOTPRINT_KIND)
#undef FOOTPRINT_KIND
  return kinds;
}

TEST(ProgramProfileTest, WritesTheMetricsOfTheTable) {
  const std::string path = testing::TempDir() + "/table.binpb";
  const absl::Status status = RunProgram(path);
  ASSERT_THAT(status, IsOk());
  const absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(path);
  ASSERT_THAT(profile, IsOk());
  std::vector<int> expected = HeapKinds();
  const BenchmarkMemory& program = profile->benchmarks(0);
  EXPECT_EQ(Kinds(program.phases(1).metrics()), expected);
#define FOOTPRINT_KIND(kind, ...) expected.push_back(kind);
  FOOTPRINT_IMAGE_METRICS(FOOTPRINT_KIND)
  EXPECT_EQ(Kinds(program.phases(0).metrics()), expected);
  FOOTPRINT_SAMPLED_METRICS(FOOTPRINT_KIND)
#undef FOOTPRINT_KIND
  EXPECT_EQ(Kinds(program.metrics()), expected);
}

TEST(ProgramProfileTest, WithoutTheFlagNothingIsRecorded) {
  std::string name = "program";
  std::vector<char*> argv = {name.data(), nullptr};
  int argc = 1;
  ProgramProfile profile(&argc, argv.data());
  EXPECT_FALSE(profile.IsWanted());
  EXPECT_THAT(profile.Write(), IsOk());
}

TEST(ProgramProfileTest, RefusesAPhaseThatIsStillOpen) {
  const std::string path = testing::TempDir() + "/open.binpb";
  std::string name = "program";
  std::string flag = "--memory_profile_out=" + path;
  std::vector<char*> argv = {name.data(), flag.data(), nullptr};
  int argc = 2;
  ProgramProfile profile(&argc, argv.data());
  MemoryPhase phase("fit");
  const absl::Status status = profile.Write();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_NE(std::string(status.message()).find("\"fit\" is still open"),
            std::string::npos)
      << status;
  EXPECT_THAT(ReadMemoryProfileFile(path), Not(IsOk()));
}

}  // namespace
}  // namespace footprint
