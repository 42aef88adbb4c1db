#include "footprint/profiling/reports/pprof_report.h"

#include <map>
#include <string>
#include <vector>

#include "footprint/base/call_stacks/call_stack_profile.pb.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "google/protobuf/io/gzip_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

CallStackProfile Read(const std::string& bytes) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(),
                                                static_cast<int>(bytes.size()));
  google::protobuf::io::GzipInputStream gzip(&stream);
  CallStackProfile profile;
  EXPECT_TRUE(profile.ParseFromZeroCopyStream(&gzip));
  return profile;
}

std::string Text(const CallStackProfile& profile, int64_t index) {
  return profile.string_table(static_cast<int>(index));
}

// Returns the functions of a sample, innermost first; "|" ends a location.
std::string Stack(const CallStackProfile& profile, const StackSample& sample) {
  std::string text;
  for (uint64_t id : sample.location_id()) {
    const StackLocation& location = profile.location(static_cast<int>(id) - 1);
    for (const StackLine& line : location.line()) {
      text += Text(profile,
                   profile.function(static_cast<int>(line.function_id()) - 1)
                       .name()) +
              " ";
    }
    text += "|";
  }
  return text;
}

void AddCall(const char* function, bool is_inlined, MeasuredRun* run) {
  CodeFrame* const frame = run->add_frames();
  frame->set_function(function);
  frame->set_module("/bin/program");
  frame->set_is_inlined(is_inlined);
  Call* const call = run->add_calls();
  call->set_parent(static_cast<uint32_t>(run->calls_size()) - 1);
  call->set_frame(static_cast<uint32_t>(run->frames_size()) - 1);
}

TEST(PprofReportTest, StacksHaveTheInlinedFunctionsInTheirLocation) {
  MeasuredRun run;
  AddCall("main", false, &run);
  AddCall("Fit", false, &run);
  AddCall("Grow", true, &run);
  AddCall("Allocate", true, &run);
  MeasuredImage* const image = run.add_images();
  image->set_has_sites(true);
  image->add_stages();
  image->add_stages()->set_name("fit");
  image->add_threads();
  SiteAmounts* const site = image->add_sites();
  site->set_call(4);
  site->set_stage(1);
  site->mutable_at_peak()->set_bytes(100);
  site->mutable_at_peak()->set_count(2);
  site->mutable_allocated()->set_bytes(500);
  site->mutable_allocated()->set_count(9);
  site->mutable_at_end()->set_bytes(7);
  image->add_sites();
  const auto bytes = PprofReport(run);
  ASSERT_THAT(bytes, IsOk());
  const CallStackProfile profile = Read(*bytes);
  ASSERT_EQ(profile.sample_size(), 2);
  EXPECT_EQ(Stack(profile, profile.sample(0)), "Allocate Grow Fit |main |");
  EXPECT_EQ(Stack(profile, profile.sample(1)), "[before the agent began] |");
  EXPECT_EQ(std::vector<int64_t>(profile.sample(0).value().begin(),
                                 profile.sample(0).value().end()),
            (std::vector<int64_t>{100, 2, 500, 9, 7}));
  std::map<std::string, std::string> labels;
  for (const StackLabel& label : profile.sample(0).label()) {
    labels[Text(profile, label.key())] = Text(profile, label.str());
  }
  EXPECT_EQ(labels["stage"], "fit");
  EXPECT_EQ(labels["thread"], "0");
  std::string types;
  for (const StackValueType& type : profile.sample_type()) {
    types +=
        Text(profile, type.type()) + "/" + Text(profile, type.unit()) + " ";
  }
  EXPECT_EQ(types,
            "peak_space/bytes peak_objects/count alloc_space/bytes "
            "alloc_objects/count inuse_space/bytes ");
  EXPECT_EQ(Text(profile, 0), "");
  EXPECT_EQ(Text(profile, profile.default_sample_type()), "peak_space");
}

// For any run, sums stay the same and every ID exists.
TEST(PprofReportTest, SamplesAddUp) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    const auto bytes = PprofReport(run);
    if (!bytes.ok()) {
      for (const MeasuredImage& image : run.images()) {
        EXPECT_FALSE(image.has_sites());
      }
      continue;
    }
    const CallStackProfile profile = Read(*bytes);
    int64_t difference = 0;
    for (const MeasuredImage& image : run.images()) {
      if (image.has_sites()) difference += image.peak_live_bytes();
    }
    for (const StackSample& sample : profile.sample()) {
      difference -= sample.value(0);
      EXPECT_GE(sample.location_id_size(), 1);
      for (uint64_t id : sample.location_id()) {
        ASSERT_GE(id, 1u);
        ASSERT_LE(id, static_cast<uint64_t>(profile.location_size()));
      }
    }
    EXPECT_EQ(difference, 0) << seed;
    for (const StackLocation& location : profile.location()) {
      EXPECT_LE(location.mapping_id(),
                static_cast<uint64_t>(profile.mapping_size()));
    }
  }
}

TEST(PprofReportTest, WithoutCallSitesItSaysSo) {
  MeasuredRun run;
  run.add_images();
  EXPECT_THAT(PprofReport(run),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       testing::HasSubstr("--sampling=BYTES")));
}

}  // namespace
}  // namespace footprint
