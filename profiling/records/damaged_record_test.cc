// Records with flipped bits or a missing end must be read or refused, but never
// cause a crash.

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/records/process_record.h"
#include "footprint/profiling/records/site_record.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

using profiling_internal::kRecordMagic;
using profiling_internal::kSiteMagic;
using profiling_internal::ProcessRecord;
using profiling_internal::SiteFile;
using profiling_internal::SiteRecord;

class DamagedRecordTest : public testing::Test {
 protected:
  DamagedRecordTest()
      : folder_(testing::TempDir() + "/damaged"),
        sites_path_(folder_ + "/1.0.sites") {
    (void)!std::system(("rm -rf " + folder_ + " && mkdir " + folder_).c_str());
    record_ = std::make_unique<ProcessRecord>();
    std::memset(static_cast<void*>(record_.get()), 0, sizeof(ProcessRecord));
    record_->magic = kRecordMagic;
    record_->process_id = 1;
    record_->has_sites = 1;
    WriteRecord(absl::string_view(reinterpret_cast<const char*>(record_.get()),
                                  sizeof(ProcessRecord)));
    file_ = open(sites_path_.c_str(), O_RDWR | O_CREAT, 0600);
    EXPECT_EQ(ftruncate(file_, sizeof(SiteFile)), 0);
    SetSites(offsetof(SiteFile, magic), kSiteMagic);
    SetSites(offsetof(SiteFile, site_count), uint32_t{3});
    SetSites(offsetof(SiteFile, time_point_count), uint32_t{4});
  }
  ~DamagedRecordTest() override { close(file_); }

  void WriteRecord(absl::string_view bytes) {
    ASSERT_THAT(ReplaceFile(folder_ + "/1.0.record", bytes, ToDisk::kNoFsync),
                IsOk());
  }

  template <typename T>
  void SetSites(size_t offset, const T& value) {
    ASSERT_EQ(pwrite(file_, &value, sizeof(value), static_cast<off_t>(offset)),
              static_cast<ssize_t>(sizeof(value)));
  }

  // Flips a bit of the file of sites; a second call restores it.
  void FlipBit(size_t offset, int bit) {
    char byte = 0;
    ASSERT_EQ(pread(file_, &byte, 1, static_cast<off_t>(offset)), 1);
    SetSites(offset, static_cast<char>(byte ^ (1 << bit)));
  }

  const std::string folder_;
  const std::string sites_path_;
  std::unique_ptr<ProcessRecord> record_;
  int file_ = -1;
};

TEST_F(DamagedRecordTest, ProcessesInWhichABitChanged) {
  ASSERT_THAT(ReadRecords(folder_), IsOk());
  const std::string whole(reinterpret_cast<const char*>(record_.get()),
                          sizeof(ProcessRecord));
  RandomSequence random(1);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    for (uint64_t flips = 1 + random.Below(8); flips > 0; --flips) {
      char& byte = damaged[random.Below(damaged.size())];
      byte = static_cast<char>(byte ^ (1 << static_cast<int>(random.Below(8))));
    }
    WriteRecord(damaged);
    const auto processes = ReadRecords(folder_);
    if (!processes.ok()) continue;
    ASSERT_LE(processes->size(), 1u);
  }
  WriteRecord(whole.substr(0, whole.size() - 1));
  EXPECT_THAT(ReadRecords(folder_),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(DamagedRecordTest, SitesInWhichABitChanged) {
  for (int i = 0; i < 3; ++i) {
    SetSites(
        offsetof(SiteFile, sites) + static_cast<size_t>(i) * sizeof(SiteRecord),
        SiteRecord{});
  }
  ASSERT_THAT(ReadRecords(folder_), IsOk());
  const auto try_bits = [this](size_t begin, size_t end) {
    for (size_t offset = begin; offset < end; ++offset) {
      for (int bit = 0; bit < 8; ++bit) {
        FlipBit(offset, bit);
        const auto processes = ReadRecords(folder_);
        if (processes.ok()) {
          for (const SiteProfile::Site& site :
               processes->front().sites->sites) {
            EXPECT_LT(site.node,
                      static_cast<int>(processes->front().sites->nodes.size()));
          }
        }
        FlipBit(offset, bit);
      }
    }
  };
  // Flips bits of the counts, which are the most dangerous, and of one site.
  try_bits(0, 72);
  try_bits(offsetof(SiteFile, sites), offsetof(SiteFile, sites) + 16);
  ASSERT_THAT(ReadRecords(folder_), IsOk());
}

TEST_F(DamagedRecordTest, SitesThatWereCutShort) {
  RandomSequence random(2);
  for (int round = 0; round < 100; ++round) {
    ASSERT_EQ(ftruncate(file_, static_cast<off_t>(
                                   random.Below(offsetof(SiteFile, sites)))),
              0);
    EXPECT_THAT(ReadRecords(folder_), Not(IsOk()));
  }
}

}  // namespace
}  // namespace footprint
