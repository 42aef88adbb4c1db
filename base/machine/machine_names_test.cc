#include "footprint/base/machine/machine_names.h"

#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string ReadText(const char* path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(MachineNamesTest, TheKernelIsThatOfProc) {
  std::string release = ReadText("/proc/sys/kernel/osrelease");
  release.resize(release.size() - 1);  // its newline
  EXPECT_THAT(KernelName(), StartsWith("Linux " + release + " "));
}

TEST(MachineNamesTest, TheProcessorIsThatOfProc) {
  const std::string model = ProcessorModel();
  EXPECT_THAT(ReadText("/proc/cpuinfo"), HasSubstr(": " + model + "\n"));
  EXPECT_EQ(model, ProcessorModel());
  // This is the value of the line with that name, if the system has one.
  std::string fields = ReadText("/proc/cpuinfo");
  const size_t named = fields.find("\nmodel name");
  if (named == std::string::npos) return;
  EXPECT_EQ(fields.find(": " + model + "\n", named), fields.find(": ", named));
}

}  // namespace
}  // namespace footprint
