#include "footprint/profiling/resident/mounts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {

inline bool operator==(const Mount& a, const Mount& b) {
  return a.path == b.path && a.device == b.device && a.type == b.type;
}
inline void PrintTo(const Mount& mount, std::ostream* out) {
  *out << mount.path << " " << mount.device << " " << mount.type;
}

namespace {

using testing::ElementsAre;

constexpr char kMounts[] =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
    "36 22 0:25 / /dev/shm rw,nosuid shared:4 - tmpfs tmpfs rw,inode64\n"
    "38 22 1:300 / /with\\040blank rw - tmpfs none rw\n"
    "39 22 0:45 / /merged rw - overlay overlay rw\n"
    "40 22 0:46 / /pages rw - hugetlbfs none rw\n"
    "41 x:7 / / rw\n"
    "42 22 a:7 / / rw - ext4 none rw\n"
    "cut off - tmpfs\n";

TEST(ParseMountsTest, FindsEachMount) {
  EXPECT_THAT(ParseMounts(kMounts),
              ElementsAre(Mount{"/", "fe:00", "ext4"},
                          Mount{"/dev/shm", "00:19", "tmpfs"},
                          Mount{"/with blank", "01:12c", "tmpfs"},
                          Mount{"/merged", "00:2d", "overlay"},
                          Mount{"/pages", "00:2e", "hugetlbfs"}));
}

TEST(RereadableDevicesTest, AreThoseOfDisksAndOfKnownLayers) {
  const RereadableDevices devices(ParseMounts(kMounts));
  EXPECT_TRUE(devices.Has("fe:00"));
  EXPECT_TRUE(devices.Has("08:01")) << "a disk that is not mounted here";
  EXPECT_TRUE(devices.Has("00:2d"));
  EXPECT_FALSE(devices.Has("00:19")) << "tmpfs";
  EXPECT_FALSE(devices.Has("00:2e")) << "hugetlbfs";
  EXPECT_FALSE(devices.Has("00:77")) << "unknown";
  EXPECT_FALSE(devices.Has(""));
}

}  // namespace
}  // namespace footprint
