#include "footprint/gates/importing/massif_file.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/importing/testdata_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr char kHeader[] = "desc: --stacks=no\ncmd: ./a\ntime_unit: i\n";

std::string Snapshot(int number, const std::string& bytes,
                     const std::string& tree) {
  return absl::StrCat("#-----------\nsnapshot=", number,
                      "\n#-----------\ntime=7\nmem_heap_B=", bytes,
                      "\nmem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=", tree,
                      "\n");
}

TEST(MassifFileTest, TheHighestSnapshotOfARealFile) {
  const auto figures = ParseMassifFile(TestdataFile("massif.out"));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->tool, "massif");
  EXPECT_THAT(figures->counts, HasSubstr("requested bytes, the highest of "));
  ASSERT_EQ(figures->peaks.size(), 1u);
  EXPECT_EQ(figures->peaks[0].bytes, 4080896);
  EXPECT_EQ(figures->peaks[0].metric, PEAK_LIVE_REQUESTED_BYTES);
  ASSERT_GE(figures->peaks[0].sites.size(), 2u);
  EXPECT_EQ(figures->peaks[0].sites[0].name, "main (program.cc:5)");
  EXPECT_EQ(figures->peaks[0].sites[0].live_bytes, 3000000);
}

TEST(MassifFileTest, PagesAsHeapAreMappedBytes) {
  const auto figures = ParseMassifFile(
      absl::StrCat("desc: --pages-as-heap=yes\ncmd: ./a\ntime_unit: i\n",
                   Snapshot(0, "4096", "empty")));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->peaks[0].metric, PEAK_MAPPED_BYTES);
}

// Wherever a file is cut, it is either refused or gives the figure of its
// complete snapshots.
TEST(MassifFileTest, ACutFileIsRefused) {
  const std::string whole = TestdataFile("massif.out");
  int accepted = 0;
  for (size_t size = 0; size < whole.size(); size += 7) {
    const auto figures = ParseMassifFile(whole.substr(0, size));
    accepted += figures.ok() ? 1 : 0;
    if (!figures.ok()) {
      EXPECT_EQ(figures.status().code(), absl::StatusCode::kDataLoss)
          << size << figures.status();
    }
  }
  EXPECT_LT(accepted, 20);
  EXPECT_THAT(ParseMassifFile(whole.substr(0, whole.size() - 1)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short")));
}

TEST(MassifFileTest, ForeignLinesAreNamed) {
  for (const std::string& text :
       {absl::StrCat("desc: x\ncommand: y\n"), absl::StrCat(kHeader, "hello\n"),
        absl::StrCat(kHeader, Snapshot(1, "5", "empty")),
        absl::StrCat(kHeader, Snapshot(0, "-5", "empty")),
        absl::StrCat(kHeader, Snapshot(0, "99999999999999999999", "empty")),
        absl::StrCat(kHeader, Snapshot(0, "5", "full")),
        absl::StrCat(kHeader, Snapshot(0, "5", "peak"), "x1: 5 a\n"),
        absl::StrCat(kHeader, Snapshot(0, "5", "peak"), "n-1: 5 a\n"),
        absl::StrCat(kHeader, Snapshot(0, "5", "peak"), "n0: -5 a\n")}) {
    EXPECT_THAT(ParseMassifFile(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(" is no massif file's: ")))
        << text;
  }
}

TEST(MassifFileTest, KnowsItsFiles) {
  EXPECT_TRUE(LooksLikeMassif(TestdataFile("massif.out")));
  EXPECT_FALSE(LooksLikeMassif(TestdataFile("heaptrack.txt")));
}

}  // namespace
}  // namespace footprint
