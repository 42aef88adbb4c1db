#include "footprint/profiling/runs/measured_images.h"

#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/measured_run_file.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

MeasuredProcess Process(int id, int image = 0) {
  MeasuredProcess process;
  process.figures.set_process_id(id);
  process.figures.set_image(image);
  process.figures.add_command_line("program");
  process.figures.set_end(MeasuredImage::KILLED);
  process.figures.set_peak_live_bytes(1000);
  return process;
}

SiteProfile::Figure RandomFigure(RandomSequence* random) {
  return {static_cast<int64_t>(random->Below(1 << 30)),
          static_cast<int64_t>(random->Below(1000)),
          static_cast<double>(random->Below(1 << 30))};
}

SiteProfile RandomProfile(RandomSequence* random) {
  SiteProfile profile;
  profile.modules = {{"/bin/a", "", 0}, {"/tmp/memprof-1/agent.so", "", 0}};
  for (int i = 0; i < 30; ++i) {
    profile.nodes.push_back(
        {static_cast<int>(random->Below(static_cast<uint64_t>(i) + 1)) - 1,
         static_cast<int>(random->Below(3)) - 1, random->Below(5)});
  }
  for (int i = 0; i < 100; ++i) {
    SiteProfile::Site site;
    site.node = static_cast<int>(random->Below(31)) - 1;
    site.thread = static_cast<uint32_t>(random->Below(4)) * 1'000'000'000;
    site.stage = static_cast<uint32_t>(random->Below(3));
    site.at_peak = RandomFigure(random);
    site.at_end = RandomFigure(random);
    site.allocated = RandomFigure(random);
    site.temporary_count = static_cast<int64_t>(random->Below(100));
    profile.sites.push_back(site);
  }
  return profile;
}

// A fork that ends by _exit has no list of objects: its environment is that of
// the process from which it came, also over several forks.
TEST(MeasuredImagesTest, AForkHasTheModulesOfItsParent) {
  MeasuredProcess parent = Process(10);
  const std::string library = testing::TempDir() + "/libexample.so.6.0.30";
  std::ofstream(library) << "";
  parent.loaded_objects = {library};
  const auto fork = [](int id, int parent_id) {
    MeasuredProcess process = Process(id);
    process.figures.set_is_fork(true);
    process.figures.set_parent_process_id(parent_id);
    return process;
  };
  // It became another program, whose objects are not known.
  MeasuredProcess other = Process(11, /*image=*/1);
  other.figures.set_parent_process_id(10);
  // It has no parent in the list, and is its own.
  const MeasuredProcess lost = fork(14, 14);
  MeasuredRun run;
  AddMeasuredImages(
      {fork(13, 12), parent, fork(11, 10), other, fork(12, 11), lost}, &run);
  std::map<int, std::vector<std::string>> versions;
  for (const MeasuredImage& image : run.images()) {
    versions[image.process_id() * 10 + image.image()] = {
        image.module_versions().begin(), image.module_versions().end()};
  }
  const std::vector<std::string> of_parent = versions[100];
  EXPECT_EQ(of_parent.size(), 1u);
  EXPECT_EQ(versions[110], of_parent);
  EXPECT_EQ(versions[120], of_parent);
  EXPECT_EQ(versions[130], of_parent);
  EXPECT_TRUE(versions[111].empty());
  EXPECT_TRUE(versions[140].empty());
}

// However stacks are merged, nothing is lost and nothing counts twice.
TEST(MeasuredImagesTest, SitesAndThreadsAddUpToTheRecords) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    RandomSequence random(seed);
    MeasuredProcess process = Process(1);
    process.sites = RandomProfile(&random);
    int64_t at_peak_bytes = 0;
    int64_t allocated_count = 0;
    int64_t temporary_count = 0;
    for (const SiteProfile::Site& site : process.sites->sites) {
      at_peak_bytes += site.at_peak.bytes;
      allocated_count += site.allocated.count;
      temporary_count += site.temporary_count;
    }
    MeasuredRun run;
    AddMeasuredImages({process}, &run);
    ASSERT_THAT(CheckMeasuredRun(run), IsOk());
    const MeasuredImage& image = run.images(0);
    EXPECT_LE(image.sites_size(), 100);
    for (const SiteAmounts& site : image.sites()) {
      at_peak_bytes -= site.at_peak().bytes();
      allocated_count -= site.allocated().count();
      temporary_count -= site.temporary_count();
    }
    EXPECT_EQ(at_peak_bytes, 0) << seed;
    EXPECT_EQ(allocated_count, 0) << seed;
    EXPECT_EQ(temporary_count, 0) << seed;
    int64_t threads_bytes = 0;
    Amount sites;
    for (const SiteAmounts& site : image.sites()) AddTo(site.at_peak(), &sites);
    for (const MeasuredThread& thread : image.threads()) {
      threads_bytes += thread.at_peak_bytes();
    }
    EXPECT_EQ(threads_bytes, sites.bytes());
  }
}

TEST(MeasuredImagesTest, MappingsAreMergedByTheirCalls) {
  MeasuredProcess process = Process(1);
  process.sites.emplace();
  process.sites->nodes = {{SiteProfile::kNone, SiteProfile::kNone, 0x10}};
  process.sites->mapping_sites = {
      {SiteProfile::kNone, 0, 0}, {0, 0, 4096}, {0, /*stage=*/9, 8192}};
  MeasuredRun run;
  AddMeasuredImages({process}, &run);
  ASSERT_THAT(CheckMeasuredRun(run), IsOk());
  ASSERT_EQ(run.images(0).mappings_size(), 1);
  EXPECT_EQ(run.images(0).mappings(0).call(), 1u);
  EXPECT_EQ(run.images(0).mappings(0).at_peak_bytes(), 12288);
}

TEST(MeasuredImagesTest, AStageWithoutANameIsOutsideOfAll) {
  MeasuredProcess process = Process(1);
  process.figures.add_stages();
  process.figures.add_stages()->set_name("fit");
  process.sites.emplace();
  for (uint32_t stage = 0; stage < 4; ++stage) {
    SiteProfile::Site site;
    site.node = -1;
    site.stage = stage;
    site.at_peak.bytes = 1 << stage;
    process.sites->sites.push_back(site);
  }
  MeasuredRun run;
  AddMeasuredImages({process}, &run);
  ASSERT_THAT(CheckMeasuredRun(run), IsOk());
  std::map<uint32_t, int64_t> bytes;
  for (const SiteAmounts& site : run.images(0).sites()) {
    bytes[site.stage()] += site.at_peak().bytes();
  }
  EXPECT_EQ(bytes[0], 1 + 4 + 8);
  EXPECT_EQ(bytes[1], 2);
}

TEST(MeasuredImagesTest, TheEndIsTold) {
  std::vector<MeasuredProcess> processes = {Process(1), Process(1, 1),
                                            Process(2), Process(3), Process(4)};
  processes[1].figures.set_end(MeasuredImage::EXITED);
  processes[2].figures.set_end(MeasuredImage::EXITED_AT_ONCE);
  processes[3].figures.set_end(MeasuredImage::RUNS_ON);
  MeasuredRun run;
  AddMeasuredImages(processes, &run);
  EXPECT_EQ(run.images(0).end(), MeasuredImage::BECAME_ANOTHER);
  EXPECT_EQ(run.images(1).end(), MeasuredImage::EXITED);
  EXPECT_EQ(run.images(2).end(), MeasuredImage::EXITED_AT_ONCE);
  EXPECT_EQ(run.images(3).end(), MeasuredImage::RUNS_ON);
  EXPECT_EQ(run.images(4).end(), MeasuredImage::KILLED);
}

TEST(MeasuredImagesTest, TheTimelineHoldsThePeak) {
  MeasuredProcess process = Process(1);
  process.figures.set_peak_time_ns(15);
  process.sites.emplace();
  process.sites->timeline = {{20, 600, 0}, {10, 500, 0}};
  MeasuredRun run;
  AddMeasuredImages({process}, &run);
  ASSERT_EQ(run.images(0).timeline_size(), 3);
  EXPECT_EQ(run.images(0).timeline(0).live_bytes(), 500);
  EXPECT_EQ(run.images(0).timeline(1).live_bytes(), 1000);
  EXPECT_EQ(run.images(0).timeline(2).live_bytes(), 600);
}

TEST(MeasuredImagesTest, TheLargestIsTheOneThatNeededMostItself) {
  MeasuredProcess parent = Process(1);
  MeasuredProcess fork = Process(2);
  fork.figures.set_peak_live_bytes(1500);
  fork.figures.set_inherited_live_bytes(900);
  MeasuredRun run;
  EXPECT_EQ(LargestImage(run), nullptr);
  AddMeasuredImages({parent, fork}, &run);
  EXPECT_EQ(LargestImage(run)->process_id(), 1);
  EXPECT_EQ(OwnPeakBytes(run.images(1)), 600);
}

// A record from another writer may have any value. No figure may crash the
// reader.
TEST(MeasuredImagesTest, AbsurdFiguresDoNoHarm) {
  MeasuredProcess process = Process(1);
  process.sites.emplace();
  SiteProfile::Site site;
  site.thread = ~0u;
  site.stage = ~0u;
  site.at_peak = {std::numeric_limits<int64_t>::max(),
                  std::numeric_limits<int64_t>::min(),
                  std::numeric_limits<double>::quiet_NaN()};
  process.sites->sites = {site, site};
  MeasuredRun run;
  AddMeasuredImages({process}, &run);
  ASSERT_THAT(CheckMeasuredRun(run), IsOk());
  EXPECT_EQ(run.images(0).sites(0).at_peak().bytes(),
            std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace footprint
