#include "footprint/profiling/python/interpreter_layout.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/hex_bytes.h"
#include "footprint/profiling/python/tested_interpreters.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr char kCheckLayout[] = "profiling/python/testdata/check_layout.py";

std::string ReadOutput(const std::string& command) {
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  char bytes[4096];
  while (size_t size = std::fread(bytes, 1, sizeof(bytes), pipe)) {
    output.append(bytes, size);
  }
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

// Compares each offset with the interpreter's own objects, as it reads them.
TEST(InterpreterLayoutTest, IsThatOfTheInterpreter) {
  if (TestedInterpreters().empty())
    GTEST_SKIP() << "no /usr/bin/python3: nothing checked";
  for (const std::string& python : TestedInterpreters()) {
    const std::vector<std::string> facts = absl::StrSplit(
        ReadOutput(absl::StrCat(python, " ", kCheckLayout)), ' ');
    ASSERT_EQ(facts.size(), 2u) << python;
    const std::string runtime = BytesOfHex(facts[1]);
    std::vector<uint64_t> words(runtime.size() / 8);
    runtime.copy(reinterpret_cast<char*>(words.data()), words.size() * 8);
    InterpreterLayout layout;
    ASSERT_TRUE(FindInterpreterLayout(
        static_cast<uint32_t>(std::stoul(facts[0])), words.data(), &layout))
        << python;
    std::string offsets;
    for (uint32_t offset :
         {layout.thread_id, layout.thread_current_frame, layout.thread_c_frame,
          layout.c_frame_current_frame, layout.c_frame_previous,
          layout.frame_code, layout.frame_previous, layout.frame_instruction,
          layout.frame_owner, layout.frame_is_entry, layout.code_first_line,
          layout.code_file_name, layout.code_qualified_name,
          layout.code_line_table, layout.code_instructions, layout.str_ascii,
          layout.str_compact}) {
      absl::StrAppend(&offsets, " ",
                      offset == InterpreterLayout::kNoMember
                          ? -1
                          : static_cast<int>(offset));
    }
    EXPECT_EQ(ReadOutput(absl::StrCat(python, " ", kCheckLayout, offsets)),
              "as it is\n")
        << python;
  }
}

TEST(InterpreterLayoutTest, OtherVersionsHaveNone) {
  InterpreterLayout layout;
  uint64_t runtime[64] = {0x7970677562656478, 0x030d00f0, 0};
  EXPECT_TRUE(FindInterpreterLayout(0x030d00f0, runtime, &layout));
  EXPECT_TRUE(IsWithGlobalLock(runtime));
  EXPECT_FALSE(FindInterpreterLayout(0x030d01f0, runtime, &layout));
  EXPECT_FALSE(FindInterpreterLayout(0x030d00f0, nullptr, &layout));
  for (uint32_t version : {0x0309, 0x030a, 0x030f, 0x0207}) {
    EXPECT_FALSE(FindInterpreterLayout(version << 16, runtime, &layout));
  }
  runtime[2] = 1;
  EXPECT_FALSE(FindInterpreterLayout(0x030d00f0, runtime, &layout));
  EXPECT_FALSE(IsWithGlobalLock(runtime));
  EXPECT_FALSE(IsWithGlobalLock(nullptr));
  runtime[0] = 0;
  EXPECT_FALSE(FindInterpreterLayout(0x030d00f0, runtime, &layout));
}

}  // namespace
}  // namespace footprint::profiling_internal
