#include "footprint/profiling/runs/this_machine.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ReadFirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

TEST(ThisMachineTest, TellsTheKernelAndTheLibraries) {
  const MeasuredMachine machine = ThisMachine();
  EXPECT_THAT(machine.kernel(), StartsWith("Linux "));
  EXPECT_THAT(machine.kernel(),
              HasSubstr(ReadFirstLine("/proc/sys/kernel/osrelease")));
  EXPECT_FALSE(machine.architecture().empty());
  EXPECT_THAT(machine.kernel(), HasSubstr(machine.architecture()));
  EXPECT_THAT(machine.c_library(), StartsWith("glibc 2."));
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

// Compares with the kernel's list of the processor's features.
TEST(ThisMachineTest, TellsTheWidestVectors) {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) flags.insert(word);
    break;
  }
  std::string widest;
#if defined(__x86_64__)
  widest = "sse2";
  for (const auto& [flag, level] : {std::pair("sse4_2", "sse4.2"),
                                    {"avx", "avx"},
                                    {"avx2", "avx2"},
                                    {"avx512f", "avx512f"}}) {
    if (flags.count(flag) > 0) widest = level;
  }
#endif
  EXPECT_EQ(ThisMachine().simd_level(), widest);
}

}  // namespace
}  // namespace footprint
