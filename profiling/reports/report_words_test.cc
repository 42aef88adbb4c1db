#include "footprint/profiling/reports/report_words.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

CodeFrame FrameAt(const std::string& file, int line) {
  CodeFrame frame;
  frame.set_file(file);
  frame.set_line(line);
  frame.set_module("/usr/lib/libfit.so");
  return frame;
}

// The example of the header.
TEST(ReportWordsTest, TimesHaveTheirUnit) {
  EXPECT_EQ(Seconds(1500000000), "1.500 s");
  EXPECT_EQ(Seconds(0), "0.000 s");
}

TEST(ReportWordsTest, ACommandIsItsWords) {
  MeasuredImage image;
  image.add_command_line("python3");
  image.add_command_line("train.py");
  image.add_command_line("--epochs=3");
  EXPECT_EQ(ShortCommand(image, 60), "python3 train.py --epochs=3");
  EXPECT_EQ(ShortCommand(image, 12), "python3 t...");
  MeasuredRun run;
  run.add_program("train");
  run.add_program(std::string(200, 'x'));
  EXPECT_EQ(ShortProgram(run), "train " + std::string(91, 'x') + "...");
}

TEST(ReportWordsTest, APlaceIsAsMuchAsIsKnown) {
  EXPECT_EQ(PlaceText(FrameAt("train.cc", 31)), "train.cc:31");
  EXPECT_EQ(PlaceText(FrameAt("train.cc", 0)), "train.cc");
  EXPECT_EQ(PlaceText(FrameAt("", 31)), "libfit.so");
}

TEST(ReportWordsTest, WhatAProgramChoseIsOneLine) {
  EXPECT_EQ(PlaceText(FrameAt("a\nb", 1)), "a\\nb:1");
  EXPECT_EQ(DescribePlace(FrameAt("a\nb", 1)), "a\nb:1");
}

TEST(ReportWordsTest, AFileNameIsThePathsLastPart) {
  EXPECT_EQ(FileName("/usr/lib/libfit.so"), "libfit.so");
  EXPECT_EQ(FileName("libfit.so"), "libfit.so");
  EXPECT_EQ(FileName("/"), "");
}

TEST(ReportWordsTest, ARunBeginsWithItsFirstImage) {
  MeasuredRun run;
  EXPECT_EQ(BeginTimeNs(run), 0);
  run.add_images()->set_begin_time_ns(7);
  run.add_images()->set_begin_time_ns(5);
  EXPECT_EQ(BeginTimeNs(run), 7);
}

}  // namespace
}  // namespace footprint
