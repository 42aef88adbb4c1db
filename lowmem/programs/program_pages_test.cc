#include "footprint/lowmem/programs/program_pages.h"

#include <dlfcn.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// Returns the bytes of files that are in memory now.
int64_t FileBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssFile:", 0) == 0)
      return std::stoll(line.substr(8)) * 1024;
  }
  return -1;
}

// Constants, relocated pointers and code that are used before and after the
// release.
const char* const kWords[] = {"one", "two", "three"};

std::string Joined() {
  std::string text;
  for (const char* word : kWords) text += word;
  return text + std::to_string(1234.5);
}

TEST(ProgramPagesTest, GivesBackWhatStartUpUsed) {
  const std::string before = Joined();
  const int64_t file_bytes = FileBytes();
  ASSERT_GT(file_bytes, 1 << 20);
  EXPECT_GT(ReleaseProgramPages(), 1 << 20);
  EXPECT_LT(FileBytes(), file_bytes * 3 / 4);
  EXPECT_EQ(Joined(), before);
}

// Such code would return from the file without its relocations.
TEST(ProgramPagesTest, LeavesCodeThatWasRelocatedAndGoesOnWithTheNext) {
  const int64_t released = ReleaseProgramPages();
  void* const relocated = dlopen("lowmem/programs/relocated_code.so", RTLD_NOW);
  ASSERT_NE(relocated, nullptr) << dlerror();
  const auto* const word =
      static_cast<uintptr_t*>(dlsym(relocated, "FootprintRelocatedWord"));
  ASSERT_NE(word, nullptr);
  EXPECT_EQ(ReleaseProgramPages(), released);
  EXPECT_EQ(*word, reinterpret_cast<uintptr_t>(word));
  ASSERT_NE(dlopen("lowmem/programs/empty_library.so", RTLD_NOW), nullptr)
      << dlerror();
  EXPECT_GT(ReleaseProgramPages(), released);
}

TEST(ProgramPagesTest, WhileOthersRun) {
  const std::string expected = Joined();
  bool same = true;
  std::thread other([&] {
    for (int i = 0; i < 20000; ++i) same = same && Joined() == expected;
  });
  for (int i = 0; i < 100; ++i) ReleaseProgramPages();
  other.join();
  EXPECT_TRUE(same);
}

}  // namespace
}  // namespace footprint
