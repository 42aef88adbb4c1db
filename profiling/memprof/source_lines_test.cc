#include "footprint/profiling/memprof/source_lines.h"

#include <sys/stat.h>

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kNow = std::numeric_limits<int64_t>::max();

class SourceLinesTest : public ::testing::Test {
 protected:
  // Returns what is read of the second line of a file with that name.
  static std::string SecondLine(const std::string& name,
                                const std::string& text,
                                CodeFrame::Kind kind = CodeFrame::NATIVE,
                                int64_t begin = kNow) {
    return Read(WriteTestFile(name, text), 2, kind, begin);
  }

  static std::string Read(const std::string& path, int line,
                          CodeFrame::Kind kind = CodeFrame::NATIVE,
                          int64_t begin = kNow) {
    CodeFrame frame;
    frame.set_kind(kind);
    frame.set_file(path);
    frame.set_line(line);
    return SourceLines(begin).Read(frame);
  }
};

TEST_F(SourceLinesTest, IsTheLineWithoutBlanksAtItsEnds) {
  EXPECT_EQ(SecondLine("a.py", "first\n\t  x = [0] * 10  \r\nlast"),
            "x = [0] * 10");
  EXPECT_EQ(SecondLine("b.cc", "first\nlast"), "last");
  EXPECT_EQ(SecondLine("c.cc", "first\n\nthird\n"), "");
}

TEST_F(SourceLinesTest, AFileIsReadOnce) {
  const std::string path = WriteTestFile("once.py", "first\nsecond\n");
  CodeFrame frame;
  frame.set_file(path);
  SourceLines lines(kNow);
  frame.set_line(1);
  EXPECT_EQ(lines.Read(frame), "first");
  WriteTestFile("once.py", "x\ny\n");
  frame.set_line(2);
  EXPECT_EQ(lines.Read(frame), "second");
}

TEST_F(SourceLinesTest, NoFileOrNoSuchLineIsEmpty) {
  WriteTestFile("short.py", "one\n");
  for (const int line : {-1, 0, 3, 1 << 30}) {
    EXPECT_EQ(Read(TestPath("short.py"), line), "") << line;
  }
  EXPECT_EQ(Read("/no/such/file.py", 1), "");
  EXPECT_EQ(Read("", 1), "");
  EXPECT_EQ(Read("<string>", 1, CodeFrame::PYTHON), "");
}

// A run from elsewhere may name any file.
TEST_F(SourceLinesTest, FilesThatAreNoSourceAreNotShown) {
  EXPECT_EQ(SecondLine("secret", "a\nb\n"), "");
  EXPECT_EQ(SecondLine("secret.txt", "a\nb\n", CodeFrame::PYTHON), "");
  EXPECT_EQ(Read("/etc/passwd", 1, CodeFrame::PYTHON), "");
  EXPECT_EQ(Read("/dev/zero", 1, CodeFrame::PYTHON), "");
  EXPECT_EQ(Read(TestPath(""), 1, CodeFrame::PYTHON), "");
  ASSERT_EQ(mkfifo(TestPath("pipe.py").c_str(), 0600), 0);
  EXPECT_EQ(Read(TestPath("pipe.py"), 1), "");
}

TEST_F(SourceLinesTest, AScriptMayHaveNoSuffix) {
  const std::string text = "#!/usr/bin/env python3\nb\n";
  EXPECT_EQ(SecondLine("tool", text, CodeFrame::PYTHON), "b");
  EXPECT_EQ(SecondLine("tool", text), "");
}

TEST_F(SourceLinesTest, BytesAndHugeFilesAreNotShown) {
  EXPECT_EQ(SecondLine("zero.py", std::string("a\nb\0c\n", 6)), "");
  EXPECT_EQ(SecondLine("latin.py", "a\nb\xe9\n"), "");
  std::string huge = "a\nb\n";
  huge.resize(SourceLines::kMostSourceBytes, 'x');
  EXPECT_EQ(SecondLine("largest.py", huge), "b");
  huge += 'x';
  EXPECT_EQ(SecondLine("huge.py", huge), "");
}

TEST_F(SourceLinesTest, AFileThatChangedSinceIsNotShown) {
  EXPECT_EQ(SecondLine("new.py", "a\nb\n", CodeFrame::PYTHON, /*begin=*/1), "");
}

TEST_F(SourceLinesTest, FilesAreCounted) {
  SourceLines lines(kNow);
  CodeFrame frame;
  frame.set_line(1);
  for (size_t i = 0; i <= SourceLines::kMostFiles; ++i) {
    frame.set_file(WriteTestFile(absl::StrCat("many", i, ".py"), "text"));
    EXPECT_EQ(lines.Read(frame), i < SourceLines::kMostFiles ? "text" : "");
  }
}

}  // namespace
}  // namespace footprint
