// Linked with malloc's entry points that record call sites, like the agent, in
// a program that knows what it allocates.

#include "footprint/profiling/sites/call_sites.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/random/property_seeds.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/sample_schedule.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/records/site_record.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

// Records call sites from its construction on.
class Recording {
 public:
  explicit Recording(int64_t interval_bytes)
      : path_(absl::StrCat(testing::TempDir(), "/", ++count, ".sites")) {
    const int folder = open(testing::TempDir().c_str(), O_PATH | O_DIRECTORY);
    RestartProcessHeapPhase();
    PublishHeap(&published_);
    EXPECT_TRUE(BeginCallSites(folder, absl::StrCat(count, ".sites").c_str(),
                               interval_bytes));
    close(folder);
    BeginSampling(interval_bytes);
  }

  ~Recording() {
    BeginSampling(-1);
    PublishHeap(nullptr);
    unlink(path_.c_str());
  }

  SiteProfile Read() {
    BeginSampling(-1);
    absl::StatusOr<SiteProfile> profile =
        ReadSiteProfile(path_, published_.peak_count.load(),
                        published_.recent_peak_count.load());
    EXPECT_THAT(profile, IsOk());
    return profile.ok() ? *std::move(profile) : SiteProfile();
  }

  void SetStage(uint32_t stage) { published_.stage = stage; }
  int64_t peak_live_bytes() const { return published_.peak_live_bytes.load(); }
  int64_t recent_peak_live_bytes() const {
    return published_.recent_peak_live_bytes.load();
  }

 private:
  static int count;
  const std::string path_;
  PublishedHeap published_{};
};

int Recording::count = 0;

SiteProfile::Figure SumAtPeak(const SiteProfile& profile) {
  SiteProfile::Figure sum;
  for (const SiteProfile::Site& site : profile.sites) {
    sum.bytes += site.at_peak.bytes;
    sum.count += site.at_peak.count;
    sum.variance += site.at_peak.variance;
  }
  return sum;
}

SiteProfile::Figure SumAllocated(const SiteProfile& profile) {
  SiteProfile::Figure sum;
  for (const SiteProfile::Site& site : profile.sites) {
    sum.bytes += site.allocated.bytes;
    sum.count += site.allocated.count;
    sum.variance += site.allocated.variance;
  }
  return sum;
}

// Returns the usable bytes of these blocks as jemalloc reports them.
int64_t UsableBytes(const std::vector<void*>& blocks) {
  int64_t sum = 0;
  for (void* block : blocks) {
    sum += static_cast<int64_t>(malloc_usable_size(block));
  }
  return sum;
}

__attribute__((noinline)) void* AllocateHere(size_t size) {
  void* const block = malloc(size);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}

// A realloc moves its block, so both blocks are live for a moment, and the peak
// is there. The blocks are so large that each is a sample.
TEST(CallSitesTest, AtAPeakInsideOfReallocBothBlocksCount) {
  for (const int64_t interval_bytes : {int64_t{0}, int64_t{512}}) {
    Recording recording(interval_bytes);
    void* block = AllocateHere(size_t{4} << 20);
    // `wall` lies behind the block, so that it cannot grow in place.
    void* const wall = AllocateHere(size_t{4} << 20);
    void* const moved = realloc(block, size_t{64} << 20);
    ASSERT_NE(moved, nullptr);
    const int64_t peak_bytes = recording.peak_live_bytes();
    const SiteProfile profile = recording.Read();
    int64_t large_bytes = 0;
    for (const SiteProfile::Site& site : profile.sites) {
      if (site.at_peak.bytes >= 1 << 20) large_bytes += site.at_peak.bytes;
    }
    EXPECT_GE(large_bytes, int64_t{72} << 20);
    EXPECT_LE(large_bytes, peak_bytes);
    free(wall);
    free(moved);
  }
}

__attribute__((noinline)) void* MapHere(size_t size_bytes) {
  void* const pages = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  asm volatile("" : : "r"(pages) : "memory");
  return pages;
}

// Both calls are in one function, so their stacks differ only there.
TEST(CallSitesTest, MappingsAreRecordedByTheirCalls) {
  for (const int64_t interval_bytes : {int64_t{0}, int64_t{1} << 30}) {
    Recording recording(interval_bytes);
    void* const first = MapHere(size_t{1} << 20);
    void* const second = MapHere(size_t{3} << 20);
    munmap(first, size_t{1} << 20);
    munmap(second, size_t{2} << 20);
    const SiteProfile profile = recording.Read();
    munmap(static_cast<char*>(second) + (size_t{2} << 20), size_t{1} << 20);
    std::vector<int64_t> at_peak_bytes;
    for (const SiteProfile::MappingSite& site : profile.mapping_sites) {
      if (site.node == SiteProfile::kNone) continue;
      at_peak_bytes.push_back(site.at_peak_bytes);
    }
    EXPECT_THAT(at_peak_bytes, testing::ElementsAre(1 << 20, 3 << 20));
  }
}

int64_t SumAtRecentPeak(const SiteProfile& profile) {
  int64_t sum_bytes = 0;
  for (const SiteProfile::Site& site : profile.sites) {
    sum_bytes += site.at_recent_peak_bytes;
  }
  return sum_bytes;
}

// The blocks are so large that each is a sample.
void MapAndUnmapPage(int) {
  void* const page =
      mmap(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) munmap(page, 1);
}

// The handler interrupts the recorder and the counters, too.
TEST(CallSitesTest, ASignalHandlerMapsAtAnyMoment) {
  const Recording recording(0);
  ASSERT_NE(signal(SIGALRM, MapAndUnmapPage), SIG_ERR);
  const itimerval often = {{0, 100}, {0, 100}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  for (int i = 0; i < 20000; ++i) {
    free(AllocateHere(static_cast<size_t>(i)));
    MapAndUnmapPage(0);
  }
  const itimerval never = {};
  ASSERT_EQ(setitimer(ITIMER_REAL, &never, nullptr), 0);
}

TEST(CallSitesTest, TheRecentPeakIsThatSinceItsRestart) {
  for (const int64_t interval_bytes : {int64_t{0}, int64_t{512}}) {
    Recording recording(interval_bytes);
    void* const held = AllocateHere(size_t{4} << 20);
    free(AllocateHere(size_t{64} << 20));
    RestartRecentPeakOfSites();
    free(AllocateHere(size_t{16} << 20));
    free(AllocateHere(size_t{8} << 20));
    const int64_t peak_bytes = recording.peak_live_bytes();
    const int64_t recent_peak_bytes = recording.recent_peak_live_bytes();
    EXPECT_GE(peak_bytes - recent_peak_bytes, int64_t{48} << 20);
    EXPECT_LE(peak_bytes - recent_peak_bytes, int64_t{49} << 20);
    const SiteProfile profile = recording.Read();
    EXPECT_GE(SumAtPeak(profile).bytes, int64_t{68} << 20);
    const int64_t sites_bytes = SumAtRecentPeak(profile);
    EXPECT_GE(sites_bytes, int64_t{20} << 20);
    EXPECT_LE(sites_bytes, recent_peak_bytes);
    if (interval_bytes == 0) {
      EXPECT_EQ(sites_bytes, recent_peak_bytes);
    }
    free(held);
  }
}

// If nothing is allocated after the restart, the peak is what was live then.
TEST(CallSitesTest, TheRecentPeakBeginsWithWhatIsLive) {
  Recording recording(512);
  void* const held = AllocateHere(size_t{4} << 20);
  RestartRecentPeakOfSites();
  const int64_t recent_peak_bytes = recording.recent_peak_live_bytes();
  free(held);
  const SiteProfile profile = recording.Read();
  EXPECT_GE(SumAtRecentPeak(profile), int64_t{4} << 20);
  EXPECT_LE(SumAtRecentPeak(profile), recent_peak_bytes);
}

// Makes random calls of each kind without sampling. Blocks that were live
// before count as well.
TEST(CallSitesTest, WithoutSamplingSitesAddUpToThePeak) {
  for (uint32_t seed = 1; seed <= PropertySeedCount() / 4; ++seed) {
    std::mt19937 random(seed);
    std::vector<void*> blocks(64);
    for (void*& block : blocks) {
      if (random() % 2 == 0) block = malloc(random() % 10000);
    }
    Recording recording(0);
    for (int step = 0; step < 300; ++step) {
      void*& block = blocks[random() % blocks.size()];
      switch (random() % 4) {
        case 0:
          block = realloc(block, 1 + random() % 20000);
          break;
        case 1:
          free(block);
          block = nullptr;
          break;
        case 2:
          free(block);
          block = aligned_alloc(64, 64 * (1 + random() % 100));
          break;
        default:
          free(block);
          block = malloc(random() % 10000);
      }
    }
    const int64_t peak_bytes = recording.peak_live_bytes();
    const HeapPhaseBytes heap = ReadHeapPhase(ProcessHeapPhase());
    const SiteProfile profile = recording.Read();
    EXPECT_EQ(SumAtPeak(profile).bytes, peak_bytes) << "seed " << seed;
    EXPECT_EQ(SumAtPeak(profile).variance, 0);
    // Blocks that a realloc left in place count as well.
    EXPECT_EQ(SumAllocated(profile).bytes, heap.allocated_bytes)
        << "seed " << seed;
    EXPECT_EQ(SumAllocated(profile).count, heap.allocation_count);
    for (const SiteProfile::Site& site : profile.sites) {
      EXPECT_GE(site.at_end.count, 0);
    }
    EXPECT_FALSE(profile.is_incomplete);
    for (void* block : blocks) free(block);
  }
}

TEST(CallSitesTest, OfABlockInPlaceOnlyWhatIsNewIsAllocated) {
  Recording recording(1 << 16);
  void* block = malloc(100000);
  for (int i = 0; i < 2000; ++i) {
    block = realloc(block, i % 2 == 0 ? 110000 : 100000);
  }
  const HeapPhaseBytes heap = ReadHeapPhase(ProcessHeapPhase());
  const SiteProfile::Figure sum = SumAllocated(recording.Read());
  free(block);
  EXPECT_LT(heap.allocated_bytes, 2000 * 50000) << "it moved: nothing is shown";
  EXPECT_NEAR(static_cast<double>(sum.bytes),
              static_cast<double>(heap.allocated_bytes),
              5 * std::sqrt(sum.variance) + 200000);
}

TEST(CallSitesTest, FiguresAtThePeakAreThoseOfThePeak) {
  Recording recording(0);
  recording.SetStage(1);
  void* const kept = AllocateHere(100000);
  recording.SetStage(2);
  void* const temporary = AllocateHere(200000);
  free(temporary);
  recording.SetStage(3);
  void* const after = AllocateHere(50000);
  const int64_t kept_bytes = static_cast<int64_t>(malloc_usable_size(kept));
  const SiteProfile profile = recording.Read();
  int stages_seen = 0;
  for (const SiteProfile::Site& site : profile.sites) {
    if (site.stage == 1) {
      EXPECT_EQ(site.at_peak.bytes, kept_bytes);
      EXPECT_EQ(site.at_end.bytes, kept_bytes);
    } else if (site.stage == 2 && site.allocated.bytes >= 200000) {
      EXPECT_EQ(site.at_peak.bytes, site.allocated.bytes);
      EXPECT_EQ(site.at_end.bytes, 0);
      EXPECT_EQ(site.temporary_count, 1);
    } else if (site.stage == 3 && site.allocated.bytes >= 50000) {
      EXPECT_EQ(site.at_peak.bytes, 0);
      EXPECT_GT(site.at_end.bytes, 0);
      EXPECT_EQ(site.temporary_count, 0);
    } else {
      continue;
    }
    ++stages_seen;
  }
  EXPECT_EQ(stages_seen, 3);
  free(kept);
  free(after);
}

// Tests the claim made for every sampled figure: the true value lies within two
// sigma in 95 of 100 cases. It must not lie there in all cases, which would
// mean that sigma is too large. There are 200 runs of sites of different sizes.
TEST(CallSitesTest, TrueValuesLieWithinTwoSigma) {
  constexpr int kSites = 5;
  constexpr size_t kSizes[kSites] = {48, 700, 5000, 40000, 300000};
  constexpr int kCounts[kSites] = {12000, 1500, 300, 60, 15};
  int figures = 0;
  int within = 0;
  double total_error = 0;
  double total_bytes = 0;
  for (int run = 0; run < 200; ++run) {
    std::vector<std::vector<void*>> blocks(kSites);
    for (int s = 0; s < kSites; ++s) {
      blocks[static_cast<size_t>(s)].resize(static_cast<size_t>(kCounts[s]));
    }
    Recording recording(16384);
    for (uint32_t s = 0; s < kSites; ++s) {
      recording.SetStage(s + 1);
      for (void*& block : blocks[s]) block = AllocateHere(kSizes[s]);
    }
    const SiteProfile profile = recording.Read();
    std::vector<SiteProfile::Figure> found(kSites + 1);
    for (const SiteProfile::Site& site : profile.sites) {
      if (site.stage == 0 || site.stage > kSites) continue;
      found[site.stage].bytes += site.at_peak.bytes;
      found[site.stage].variance += site.at_peak.variance;
    }
    for (size_t s = 0; s < kSites; ++s) {
      const double truth = static_cast<double>(UsableBytes(blocks[s]));
      const double error = static_cast<double>(found[s + 1].bytes) - truth;
      ++figures;
      if (std::abs(error) <= 2 * std::sqrt(found[s + 1].variance)) ++within;
      total_error += error;
      total_bytes += truth;
      for (void* block : blocks[s]) free(block);
    }
  }
  EXPECT_GE(within, figures * 93 / 100) << "of " << figures;
  EXPECT_LE(within, figures * 99 / 100) << "of " << figures;
  // The estimate is unbiased: over all runs the mean lies within three of its
  // standard errors (measured: below one per mille).
  EXPECT_LT(std::abs(total_error), total_bytes * 0.005);
}

// Compares the peak of a heap that grows and shrinks.
TEST(CallSitesTest, FreedSamplesAreNoLongerLive) {
  std::vector<void*> blocks;
  blocks.reserve(2000);
  Recording recording(4096);
  for (int i = 0; i < 2000; ++i) blocks.push_back(AllocateHere(1000));
  for (void* block : blocks) free(block);
  const SiteProfile profile = recording.Read();
  for (const SiteProfile::Site& site : profile.sites) {
    EXPECT_EQ(site.at_end.bytes, 0);
    EXPECT_EQ(site.at_end.count, 0);
  }
  EXPECT_GT(SumAtPeak(profile).bytes, 1500000);
}

TEST(CallSitesTest, TheTimelineGrowsAndEnds) {
  Recording recording(1024);
  std::vector<void*> blocks;
  for (int i = 0; i < 200; ++i) {
    blocks.push_back(AllocateHere(10000));
    usleep(1000);
  }
  const SiteProfile profile = recording.Read();
  ASSERT_GT(profile.timeline.size(), 10u);
  for (size_t i = 1; i < profile.timeline.size(); ++i) {
    EXPECT_GT(profile.timeline[i].time_ns, profile.timeline[i - 1].time_ns);
    EXPECT_GT(profile.timeline[i].live_bytes,
              profile.timeline[i - 1].live_bytes);
  }
  for (void* block : blocks) free(block);
}

// Calls itself `depth` times; the bits of `path` choose the call each time.
__attribute__((noinline)) void AllocateByPath(uint32_t path, int depth) {
  if (depth == 0) {
    free(AllocateHere(100));
  } else if (path % 2 == 0) {
    AllocateByPath(path / 2, depth - 1);
  } else {
    AllocateByPath(path / 2, depth - 1);
    // Makes another return address, and prevents a tail call.
    asm volatile("nop");
  }
  asm volatile("");
}

__attribute__((noinline)) void* AllocateAfterwards(size_t size) {
  void* const block = malloc(size);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}

// Returns whether a call of the stack returns into that function, which is
// short.
bool IsCalledFrom(const SiteProfile& profile, int node,
                  void* (*function)(size_t)) {
  const auto begin = reinterpret_cast<uint64_t>(function);
  while (node != SiteProfile::kNone) {
    const SiteProfile::Node& call = profile.nodes[static_cast<size_t>(node)];
    const uint64_t address =
        call.module == SiteProfile::kNone
            ? call.address
            : call.address +
                  profile.modules[static_cast<size_t>(call.module)].load_bias;
    if (address > begin && address < begin + 100) return true;
    node = call.parent;
  }
  return false;
}

// Behaves like a script that imports much and then allocates.
TEST(CallSitesTest, StacksThatFindNoRoomKeepTheirOuterCalls) {
  constexpr uint32_t kPaths = kMaxSites + 1000;
  Recording recording(0);
  for (uint32_t path = 0; path < kPaths; ++path) AllocateByPath(path, 21);
  void* const block = AllocateAfterwards(size_t{8} << 20);
  const SiteProfile profile = recording.Read();
  EXPECT_TRUE(profile.is_incomplete);
  int64_t found_bytes = 0;
  for (const SiteProfile::Site& site : profile.sites) {
    if (site.node == SiteProfile::kNone || site.at_peak.bytes < 8 << 20) {
      continue;
    }
    found_bytes += site.at_peak.bytes;
    EXPECT_TRUE(IsCalledFrom(profile, site.node, AllocateAfterwards));
  }
  EXPECT_GE(found_bytes, 8 << 20);
  free(block);
}

TEST(CallSitesTest, AFolderThatCannotBeWrittenIsSaid) {
  Recording recording(0);
  EXPECT_TRUE(every_allocation_is_recorded);
  EXPECT_FALSE(BeginCallSites(-1, "x.sites", 0));
  EXPECT_FALSE(every_allocation_is_recorded);
}

// The begin of a child's recording leaves its parent's files alone.
TEST(CallSitesTest, GrowthEndsWithItsSites) {
  const int folder = open(testing::TempDir().c_str(), O_PATH | O_DIRECTORY);
  const std::string path = absl::StrCat(testing::TempDir(), "/x.growth");
  Recording before(0);
  BeginSiteGrowth(folder, "x.growth");
  close(folder);
  free(AllocateHere(10000));
  Recording after(0);
  const absl::StatusOr<std::string> growth = ReadWholeFile(path);
  ASSERT_THAT(growth, IsOk());
  ASSERT_FALSE(growth->empty());
  for (int i = 0; i < 100; ++i) free(AllocateHere(10000));
  const absl::StatusOr<std::string> growth_later = ReadWholeFile(path);
  ASSERT_THAT(growth_later, IsOk());
  EXPECT_TRUE(*growth_later == *growth);
}

}  // namespace
}  // namespace footprint::profiling_internal
