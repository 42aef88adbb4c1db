#include "footprint/gates/importing/foreign_file.h"

#include <string>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/importing/testdata_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(ForeignFileTest, EveryFormatIsTold) {
  const struct {
    const char* name;
    const char* tool;
  } kFiles[] = {{"massif.out", "massif"},
                {"heaptrack.txt", "heaptrack"},
                {"google_benchmark.json", "google benchmark"},
                {"gperftools.1.heap", "gperftools"},
                {"jemalloc.heap", "jemalloc"},
                {"pprof.pb.gz", "pprof"}};
  for (const auto& file : kFiles) {
    const auto figures = ParseForeignFile(TestdataFile(file.name));
    ASSERT_THAT(figures, IsOk()) << file.name;
    EXPECT_EQ(figures->tool, file.tool);
    EXPECT_GE(figures->peaks[0].bytes, 800000);
  }
}

TEST(ForeignFileTest, ForeignFilesAreRefused) {
  EXPECT_THAT(ParseForeignFile(""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
  for (const char* text : {"hello",
                           "\x7f"
                           "ELF",
                           "<xml/>", "28 b5 2f fd"}) {
    EXPECT_THAT(ParseForeignFile(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is in none of the supported formats")));
  }
}

}  // namespace
}  // namespace footprint
