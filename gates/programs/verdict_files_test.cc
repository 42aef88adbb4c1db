#include "footprint/gates/programs/verdict_files.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/commands/command_flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void ExpectRefused(const std::vector<std::string>& values, const char* part) {
  EXPECT_THAT(ParseVerdictFiles(values),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(part)));
}

TEST(VerdictFilesTest, FormatsAndFiles) {
  const auto files = ParseVerdictFiles({"sarif:a.sarif", "html:C:/b.html"});
  ASSERT_THAT(files, IsOk());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].format, "sarif");
  EXPECT_EQ((*files)[0].path, "a.sarif");
  EXPECT_EQ((*files)[1].format, "html");
  EXPECT_EQ((*files)[1].path, "C:/b.html");
}

TEST(VerdictFilesTest, MistakesAreNamed) {
  ExpectRefused({"sarif"}, "--write=sarif is not FORMAT:FILE");
  ExpectRefused({"sarif:"}, "is not FORMAT:FILE");
  ExpectRefused({""}, "is not FORMAT:FILE");
  ExpectRefused({"yaml:x"}, "gitlab or openmetrics, or html");
  ExpectRefused({"json:x", "text:x"}, "two formats are to be written into x");
}

TEST(VerdictFilesTest, OneFileDoesNotTakeTwoFormats) {
  const std::string path = testing::TempDir() + "/one.txt";
  const auto flags =
      CommandFlags::Parse({"--output=" + path}, {"output", "format"}, {}, 0);
  ASSERT_THAT(flags, IsOk());
  const std::string other_name = testing::TempDir() + "/./one.txt";
  EXPECT_THAT(WriteVerdict(GateInput(), Verdict(), *flags,
                           {{"json", other_name}}, false),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--output and --write=json")));
  EXPECT_THAT(ReadWholeFile(path), Not(IsOk()));
}

TEST(VerdictFilesTest, EveryFormatIsWritten) {
  const std::vector<VerdictFile> files = EveryVerdictFile(testing::TempDir());
  EXPECT_EQ(files.size(), 10u);
  ASSERT_THAT(WriteVerdictFiles(files, GateInput(), Verdict(), ReportOptions()),
              IsOk());
  for (const VerdictFile& file : files) {
    const auto text = ReadWholeFile(file.path);
    ASSERT_THAT(text, IsOk());
    EXPECT_FALSE(text->empty()) << file.format;
  }
  EXPECT_THAT(WriteVerdictAs("html", GateInput(), Verdict(), ReportOptions()),
              StartsWith("<!DOCTYPE html>"));
}

TEST(VerdictFilesTest, AFileThatFailsStopsNoOther) {
  const std::string good = testing::TempDir() + "/good.json";
  const absl::Status status =
      WriteVerdictFiles({{"text", "/nowhere/x"}, {"json", good}}, GateInput(),
                        Verdict(), ReportOptions());
  EXPECT_THAT(status, Not(IsOk()));
  EXPECT_THAT(ReadWholeFile(good), IsOk());
}

}  // namespace
}  // namespace footprint
