#include "footprint/profiling/resident/graphics_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr char kStandIn[] = "profiling/resident/stand_in_nvml.so";

class GraphicsMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = absl::StrCat(testing::TempDir(), "/processes");
    setenv("STAND_IN_NVML", path_.c_str(), 1);
    unsetenv("STAND_IN_NVML_ERROR");
    setenv("STAND_IN_NVML_USED", "5000000", 1);
    Runs("");
  }

  // Each line is "DEVICE PROCESS BYTES PERCENT".
  void Runs(const std::string& lines) {
    ASSERT_THAT(ReplaceFile(path_, lines, ToDisk::kNoFsync), IsOk());
  }

  GraphicsWatch OpenWatch() {
    absl::StatusOr<GraphicsWatch> watch =
        GraphicsWatch::Open(kStandIn, DeviceFiles());
    EXPECT_THAT(watch.status(), IsOk());
    return *std::move(watch);
  }

  // Returns the path as the kernel writes it: without double slashes and links.
  static std::string DeviceFiles() {
    return (std::filesystem::canonical(testing::TempDir()) / "device").string();
  }

  // Opens a device like a program that uses it.
  static FileDescriptor OpenDevice(absl::string_view suffix) {
    return FileDescriptor(open(absl::StrCat(DeviceFiles(), suffix).c_str(),
                               O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  }

  std::string path_;
};

TEST_F(GraphicsMemoryTest, KeepsThePeakOfEachProcessOnEachDevice) {
  GraphicsWatch watch = OpenWatch();
  Runs("0 7 1000 50\n1 7 300 0\n0 8 10 0\n");
  watch.Look({7, 8});
  Runs("0 7 5000 50\n0 8 10 0\n");
  watch.Look({7, 8});
  Runs("0 7 2000 50\n");
  watch.Look({7, 8});
  const std::vector<GraphicsUse> uses = watch.uses();
  ASSERT_EQ(uses.size(), 3u);
  EXPECT_EQ(uses[0].process_id, 7);
  EXPECT_EQ(uses[0].device, 0);
  EXPECT_EQ(uses[0].device_name, "Stand-in 0");
  EXPECT_EQ(uses[0].peak_bytes, 5000);
  // There are two intervals of a second, with half of each.
  EXPECT_EQ(uses[0].busy_ns, 1'000'000'000);
  EXPECT_EQ(uses[1].device, 1);
  EXPECT_EQ(uses[1].peak_bytes, 300);
  EXPECT_EQ(uses[2].process_id, 8);
  EXPECT_EQ(watch.unmatched_process_count(), 0);
}

TEST_F(GraphicsMemoryTest, AProcessThatAlsoDrawsHasItsHigherFigure) {
  const std::string drawing = absl::StrCat(testing::TempDir(), "/drawing");
  ASSERT_THAT(ReplaceFile(drawing, "0 7 3000 0\n0 8 200 0\n0 9 400 0\n",
                          ToDisk::kNoFsync),
              IsOk());
  setenv("STAND_IN_NVML_DRAWING", drawing.c_str(), 1);
  GraphicsWatch watch = OpenWatch();
  Runs("0 7 1000 50\n0 8 600 50\n");
  watch.Look({7, 8, 9});
  unsetenv("STAND_IN_NVML_DRAWING");
  std::vector<int64_t> peaks_bytes;
  for (const GraphicsUse& use : watch.uses()) {
    peaks_bytes.push_back(use.peak_bytes.value_or(-1));
  }
  EXPECT_EQ(peaks_bytes, (std::vector<int64_t>{3000, 600, 400}));
}

TEST_F(GraphicsMemoryTest, CountsOthersThatItWasNotAskedFor) {
  GraphicsWatch watch = OpenWatch();
  Runs("0 7 1000 50\n0 99 300 0\n1 98 300 0\n");
  watch.Look({7});
  Runs("");
  watch.Look({7});
  EXPECT_EQ(watch.uses().size(), 1u);
  EXPECT_EQ(watch.unmatched_process_count(), 2);
}

TEST_F(GraphicsMemoryTest, ListsMoreProcessesThanItExpects) {
  GraphicsWatch watch = OpenWatch();
  std::string lines;
  std::set<int> processes;
  for (int i = 1; i <= 100; ++i) {
    absl::StrAppend(&lines, "0 ", i, " ", 10 * i, " 0\n");
    processes.insert(i);
  }
  Runs(lines);
  watch.Look(processes);
  ASSERT_EQ(watch.uses().size(), 100u);
  EXPECT_EQ(watch.uses()[99].peak_bytes, 1000);
}

TEST_F(GraphicsMemoryTest, KnowsNoBytesWhereTheDriverTellsNone) {
  GraphicsWatch watch = OpenWatch();
  Runs("0 7 -1 0\n");
  watch.Look({7});
  ASSERT_EQ(watch.uses().size(), 1u);
  EXPECT_FALSE(watch.uses()[0].peak_bytes.has_value());
}

TEST_F(GraphicsMemoryTest, OfProcessesUnderOtherNumbersTellsTheDevicesRise) {
  const FileDescriptor opened = OpenDevice("0");
  GraphicsWatch watch = OpenWatch();
  Runs("0 99 3000000 50\n1 98 10 0\n");
  watch.Look({getpid()});
  Runs("0 99 2000000 50\n");
  watch.Look({getpid()});
  const std::vector<GraphicsUse> uses = watch.uses();
  ASSERT_EQ(uses.size(), 1u) << "of device 1 a few bytes";
  EXPECT_EQ(uses[0].process_id, 0);
  EXPECT_EQ(uses[0].device, 0);
  EXPECT_EQ(uses[0].device_name, "Stand-in 0");
  EXPECT_EQ(uses[0].peak_bytes, 3'000'000);
}

TEST_F(GraphicsMemoryTest, WhereItsProcessHasBytesTheDevicesRiseIsNotTold) {
  const FileDescriptor opened = OpenDevice("0");
  GraphicsWatch watch = OpenWatch();
  Runs(absl::StrCat("0 ", getpid(), " 2000000 50\n0 99 3000000 50\n"));
  watch.Look({getpid()});
  ASSERT_EQ(watch.uses().size(), 1u);
  EXPECT_EQ(watch.uses()[0].process_id, getpid());
}

TEST_F(GraphicsMemoryTest, AProcessOfNoBytesIsOneWhoseBytesAreNotTold) {
  const FileDescriptor opened = OpenDevice("0");
  GraphicsWatch watch = OpenWatch();
  Runs(absl::StrCat("0 ", getpid(), " 0 50\n0 99 3000000 50\n"));
  watch.Look({getpid()});
  ASSERT_EQ(watch.uses().size(), 2u);
  EXPECT_FALSE(watch.uses()[0].peak_bytes.has_value());
  EXPECT_EQ(watch.uses()[1].process_id, 0);
}

TEST_F(GraphicsMemoryTest, OfAProgramWithoutADeviceOthersAreNotTold) {
  const FileDescriptor control = OpenDevice("ctl");
  GraphicsWatch watch = OpenWatch();
  Runs("0 99 3000000 50\n");
  watch.Look({getpid(), 1 << 30});
  EXPECT_EQ(watch.uses().size(), 0u);
}

TEST_F(GraphicsMemoryTest, SaysThatThereIsNoLibrary) {
  const absl::Status status =
      GraphicsWatch::Open("libno-such-vendor.so.1").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(status.message(), HasSubstr("there is no libno-such-vendor"));
}

TEST_F(GraphicsMemoryTest, SaysThatALibraryIsAnother) {
  EXPECT_THAT(GraphicsWatch::Open("libm.so.6").status(),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(GraphicsMemoryTest, SaysThatTheDriverDoesNotAnswer) {
  setenv("STAND_IN_NVML_ERROR", "1", 1);
  EXPECT_THAT(GraphicsWatch::Open(kStandIn).status(),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(GraphicsMemoryTest, ADevicesNameMayFillItsPlace) {
  setenv("STAND_IN_NVML_LONG_NAMES", "1", 1);
  GraphicsWatch watch = OpenWatch();
  unsetenv("STAND_IN_NVML_LONG_NAMES");
  Runs("0 7 1000 50\n");
  watch.Look({7});
  ASSERT_EQ(watch.uses().size(), 1u);
  EXPECT_EQ(watch.uses()[0].device_name, std::string(95, 'n'));
}

}  // namespace
}  // namespace footprint
