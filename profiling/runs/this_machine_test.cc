#include "footprint/profiling/runs/this_machine.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string FirstLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

TEST(ThisMachineTest, TellsTheKernelAndTheLibraries) {
  const MeasuredMachine machine = ThisMachine();
  EXPECT_THAT(machine.kernel(), StartsWith("Linux "));
  EXPECT_THAT(machine.kernel(),
              HasSubstr(FirstLineOf("/proc/sys/kernel/osrelease")));
  EXPECT_FALSE(machine.architecture().empty());
  EXPECT_THAT(machine.kernel(), HasSubstr(machine.architecture()));
  EXPECT_THAT(machine.c_library(), StartsWith("glibc 2."));
  EXPECT_EQ(machine.allocator(), "jemalloc");
}

TEST(ThisMachineTest, TellsWhatMemoryAndProcessorsThereAre) {
  const MeasuredMachine machine = ThisMachine();
  EXPECT_EQ(machine.page_size_bytes(), getpagesize());
  EXPECT_EQ(machine.processor_count(), get_nprocs());
  struct sysinfo info = {};
  ASSERT_EQ(sysinfo(&info), 0);
  EXPECT_EQ(machine.memory_bytes(),
            static_cast<int64_t>(info.totalram) * info.mem_unit);
}

}  // namespace
}  // namespace footprint
