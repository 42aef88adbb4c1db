// Tests heap.cc in a program whose calls are known.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "footprint/base/files/test_file.h"
#include "footprint/profiling/regressions/planted_regression.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr char kProgram[] = "profiling/regressions/heap_test_program";
constexpr int64_t kBlockBytes = 1024;  // a size class of jemalloc
constexpr int64_t kNextClassBytes = 1280;
constexpr int64_t kCalls = 10;

struct Needed {
  int64_t peak_bytes = -1;
  int64_t left_bytes = -1;
  int64_t allocated_bytes = -1;
  int64_t mapped_bytes = -1;
};

void ExpectUnchanged(const Needed& needed) {
  EXPECT_EQ(needed.peak_bytes, kBlockBytes);
  EXPECT_EQ(needed.left_bytes, 0);
  EXPECT_EQ(needed.allocated_bytes, kCalls * kBlockBytes);
  EXPECT_EQ(needed.mapped_bytes, 0);
}

class HeapTest : public testing::Test {
 protected:
  HeapTest() {
    static int count = 0;
    folder_ = TestPath("heap" + std::to_string(++count));
    mkdir(folder_.c_str(), 0755);
  }

  PlantedRegression Regression(RegressionKind kind, int64_t call,
                               int64_t bytes) const {
    PlantedRegression planted;
    planted.kind = kind;
    planted.call = call;
    planted.bytes = bytes;
    EXPECT_TRUE(CopyText("loop", planted.phase));
    EXPECT_TRUE(CopyText((folder_ + "/record").c_str(), planted.record_path));
    return planted;
  }

  Needed Run(const PlantedRegression& planted,
             size_t written_bytes = sizeof(PlantedRegression)) const {
    const std::string path = folder_ + "/" + kPlantedRegressionName;
    FILE* const file = std::fopen(path.c_str(), "wb");
    EXPECT_EQ(std::fwrite(&planted, 1, written_bytes, file), written_bytes);
    std::fclose(file);
    return Run();
  }

  Needed Run() const {
    char* const top = realpath(kProgram, nullptr);
    const std::string command =
        "cd '" + folder_ + "' && '" + std::string(top) + "'";
    std::free(top);
    FILE* const output = popen(command.c_str(), "r");
    Needed needed;
    long long numbers[4] = {};
    EXPECT_EQ(std::fscanf(output, "%lld %lld %lld %lld", &numbers[0],
                          &numbers[1], &numbers[2], &numbers[3]),
              4);
    EXPECT_EQ(pclose(output), 0);
    needed.peak_bytes = numbers[0];
    needed.left_bytes = numbers[1];
    needed.allocated_bytes = numbers[2];
    needed.mapped_bytes = numbers[3];
    return needed;
  }

  // Returns the events of two kinds in the program's record.
  std::vector<AllocationEvent> Recorded(AllocationEvent::Kind one,
                                        AllocationEvent::Kind other) const {
    ExpectUnchanged(Run(Regression(RegressionKind::kNone, 0, 0)));
    std::vector<AllocationEvent> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().stem() != "record") continue;
      const std::string bytes = ReadTestFile(entry.path().string());
      std::vector<AllocationEvent> events(bytes.size() /
                                          sizeof(AllocationEvent));
      std::memcpy(static_cast<void*>(events.data()), bytes.data(),
                  events.size() * sizeof(AllocationEvent));
      for (const AllocationEvent& event : events) {
        if (event.kind == one || event.kind == other) found.push_back(event);
      }
    }
    return found;
  }

  bool IsPlanted() const {
    const std::string record = folder_ + "/record";
    return access(record.c_str(), F_OK) == 0 &&
           ReadTestFile(record) == kPlantedLine;
  }

  std::string folder_;
};

TEST_F(HeapTest, WithoutAFileItIsExactHeap) { ExpectUnchanged(Run()); }

TEST_F(HeapTest, AFileThatIsCutShortPlantsNothing) {
  ExpectUnchanged(Run(Regression(RegressionKind::kLargerBlock, 3, 1),
                      sizeof(PlantedRegression) - 1));
  EXPECT_FALSE(IsPlanted());
}

TEST_F(HeapTest, APhaseOfAnotherNameIsLeftAlone) {
  PlantedRegression planted = Regression(RegressionKind::kKeptBlock, 3, 1);
  ASSERT_TRUE(CopyText("other", planted.phase));
  ExpectUnchanged(Run(planted));
  EXPECT_FALSE(IsPlanted());
}

TEST_F(HeapTest, OneBlockIsLarger) {
  const Needed needed = Run(Regression(RegressionKind::kLargerBlock, 3, 1));
  EXPECT_EQ(needed.peak_bytes, kNextClassBytes);
  EXPECT_EQ(needed.left_bytes, 0);
  EXPECT_EQ(needed.allocated_bytes,
            (kCalls - 1) * kBlockBytes + kNextClassBytes);
  EXPECT_TRUE(IsPlanted());
}

TEST_F(HeapTest, BlocksAreKeptAtTheirCalls) {
  PlantedRegression planted =
      Regression(RegressionKind::kKeptBlock, 1, kBlockBytes);
  planted.count = 3;
  planted.stride = 2;  // calls 1, 3 and 5
  const Needed needed = Run(planted);
  EXPECT_EQ(needed.left_bytes, 3 * kBlockBytes);
  EXPECT_EQ(needed.peak_bytes, 4 * kBlockBytes);
  EXPECT_TRUE(IsPlanted());
}

TEST_F(HeapTest, NotPlantedWhereTheCallsEndBefore) {
  PlantedRegression planted =
      Regression(RegressionKind::kKeptBlock, 1, kBlockBytes);
  planted.count = 5;
  planted.stride = 3;  // calls 1, 4 and 7
  EXPECT_EQ(Run(planted).left_bytes, 3 * kBlockBytes);
  EXPECT_FALSE(IsPlanted());
}

TEST_F(HeapTest, ABlockIsFreedWhenThePhaseEnds) {
  const Needed needed = Run(Regression(RegressionKind::kLaterFree, 0, 0));
  EXPECT_EQ(needed.peak_bytes, 2 * kBlockBytes);
  EXPECT_EQ(needed.left_bytes, 0);
  EXPECT_TRUE(IsPlanted());
}

TEST_F(HeapTest, ABlockIsHeldThroughThePhase) {
  const Needed needed =
      Run(Regression(RegressionKind::kStageBlock, -1, kBlockBytes));
  EXPECT_EQ(needed.peak_bytes, 2 * kBlockBytes);
  EXPECT_EQ(needed.left_bytes, 0);
  EXPECT_TRUE(IsPlanted());
}

TEST_F(HeapTest, VolumeIsAllocatedAndFreed) {
  PlantedRegression planted =
      Regression(RegressionKind::kVolume, 4, kBlockBytes);
  planted.count = 5;
  const Needed needed = Run(planted);
  EXPECT_EQ(needed.allocated_bytes, (kCalls + 5) * kBlockBytes);
  EXPECT_EQ(needed.left_bytes, 0);
  EXPECT_TRUE(IsPlanted());
}

TEST_F(HeapTest, AMappingIsKept) {
  constexpr int64_t kMappedBytes = 1 << 20;
  const Needed needed =
      Run(Regression(RegressionKind::kKeptMapping, 2, kMappedBytes));
  EXPECT_EQ(needed.mapped_bytes, kMappedBytes);
  EXPECT_EQ(needed.peak_bytes, kBlockBytes);
  EXPECT_TRUE(IsPlanted());
}

TEST_F(HeapTest, APhaseMayHaveNoName) {
  PlantedRegression planted = Regression(RegressionKind::kKeptBlock, 0, 1);
  ASSERT_TRUE(CopyText("", planted.phase));
  ExpectUnchanged(Run(planted));
  EXPECT_TRUE(IsPlanted());
}

TEST_F(HeapTest, ARecordHasWholePagesOfAMapping) {
  const std::vector<AllocationEvent> mapped = Recorded(
      AllocationEvent::Kind::kMapped, AllocationEvent::Kind::kUnmapped);
  ASSERT_EQ(mapped.size(), 2u);
  const int64_t page_bytes = getpagesize();
  EXPECT_EQ(mapped[0].requested_bytes, page_bytes + 1);
  EXPECT_EQ(mapped[0].bytes, 2 * page_bytes);
  EXPECT_EQ(mapped[1].bytes, 2 * page_bytes);
  EXPECT_EQ(mapped[1].address, mapped[0].address);
}

// The destructor of the phase's object ends it a second time.
TEST_F(HeapTest, APhaseThatIsEndedTwiceEndsNoOther) {
  const std::vector<AllocationEvent> phases = Recorded(
      AllocationEvent::Kind::kPhaseBegins, AllocationEvent::Kind::kPhaseEnds);
  ASSERT_GE(phases.size(), 4u);
  const AllocationEvent* const last = phases.data() + phases.size() - 4;
  const auto expect = [](const AllocationEvent& event,
                         AllocationEvent::Kind kind, uint64_t phase) {
    EXPECT_EQ(event.kind, kind);
    EXPECT_EQ(event.address, phase);
  };
  const uint64_t outer = last[0].address;
  const uint64_t inner = last[1].address;
  EXPECT_NE(outer, inner);
  expect(last[0], AllocationEvent::Kind::kPhaseBegins, outer);
  expect(last[1], AllocationEvent::Kind::kPhaseBegins, inner);
  expect(last[2], AllocationEvent::Kind::kPhaseEnds, inner);
  expect(last[3], AllocationEvent::Kind::kPhaseEnds, outer);
}

}  // namespace
}  // namespace footprint
