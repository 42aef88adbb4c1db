#include "footprint/gates/trend/commit_list.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(CommitListTest, ReadsCommitsAndTheirChanges) {
  const absl::StatusOr<std::vector<Commit>> commits = ParseCommitLog(
      "\x01"
      "4f0a\x02"
      "Ann Author\x02"
      "2026-11-28\x02"
      "Keep \x02 a table\n\n"
      "M\tapp/load.cc\nA\tapp/new file.h\n"
      "\x01"
      "77aa\x02"
      "\x02"
      "2026-11-29\x02"
      "\n");
  ASSERT_THAT(commits, IsOk());
  ASSERT_THAT(*commits, SizeIs(2));
  const Commit& first = commits->front();
  EXPECT_EQ(first.hash, "4f0a");
  EXPECT_EQ(first.author, "Ann Author");
  EXPECT_EQ(first.date, "2026-11-28");
  EXPECT_EQ(first.subject, "Keep \x02 a table");
  ASSERT_THAT(first.changes, SizeIs(2));
  EXPECT_EQ(first.changes[1].kind, 'A');
  EXPECT_EQ(first.changes[1].path, "app/new file.h");
  EXPECT_EQ((*commits)[1].subject, "");
  EXPECT_THAT((*commits)[1].changes, IsEmpty());
}

TEST(CommitListTest, RefusesOtherTexts) {
  for (const char* const text : {"M\tapp/load.cc\n", "fatal: bad revision",
                                 "\x01"
                                 "4f0a\n",
                                 "\x01"
                                 "a\x02"
                                 "b\x02"
                                 "c\x02"
                                 "d\nM\n"}) {
    EXPECT_THAT(ParseCommitLog(text),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
  const absl::StatusOr<std::vector<Commit>> none = ParseCommitLog("");
  ASSERT_THAT(none, IsOk());
  EXPECT_THAT(*none, IsEmpty());
}

bool AreChangedBy(char kind, const std::string& path) {
  GateInputs inputs;
  inputs.Add(
      {"app/BUILD", "app/load.cc", "lib/deep/BUILD.bazel", "lib/deep/x.h"});
  Commit commit;
  commit.changes = {{'M', "docs/readme.md"}, {kind, path}};
  return inputs.AreChangedBy(commit);
}

TEST(CommitListTest, ACommitThatChangesAnInputIsRelevant) {
  EXPECT_TRUE(AreChangedBy('M', "app/load.cc"));
  EXPECT_TRUE(AreChangedBy('D', "app/load.cc"));
  EXPECT_TRUE(AreChangedBy('M', "app/BUILD"));
  EXPECT_FALSE(AreChangedBy('M', "app/other.cc"));
  EXPECT_FALSE(AreChangedBy('M', "load.cc"));
  EXPECT_FALSE(AreChangedBy('M', "docs/load.cc"));
}

TEST(CommitListTest, ALinkToAnInputIsRelevant) {
  EXPECT_TRUE(AreChangedBy('M', "app"));  // a link instead of the folder
  EXPECT_TRUE(AreChangedBy('T', "lib/deep"));
  EXPECT_FALSE(AreChangedBy('M', "ap"));
  EXPECT_FALSE(AreChangedBy('M', "application"));
}

TEST(CommitListTest, AFileBelowAFolderThatIsAnInputIsRelevant) {
  GateInputs inputs;
  inputs.Add({"app/BUILD", "app/data"});
  for (const auto& [path, is_relevant] :
       {std::pair("app/data/deep/x.bin", true), std::pair("app/data2/x", false),
        std::pair("app/dat", false)}) {
    Commit commit;
    commit.changes = {{'M', path}};
    EXPECT_EQ(inputs.AreChangedBy(commit), is_relevant) << path;
  }
}

TEST(CommitListTest, ANewFileInAPackageIsRelevant) {
  EXPECT_TRUE(AreChangedBy('A', "app/new.cc"));
  EXPECT_TRUE(AreChangedBy('A', "app/below/new.cc"));
  EXPECT_TRUE(AreChangedBy('D', "lib/deep/old.cc"));
  EXPECT_FALSE(AreChangedBy('A', "lib/new.cc"));
  EXPECT_FALSE(AreChangedBy('A', "new.cc"));
  EXPECT_FALSE(AreChangedBy('A', "application/new.cc"));
}

TEST(CommitListTest, WhatAllOfBazelDependsOnIsRelevant) {
  for (const char* const path :
       {"WORKSPACE", "sub/MODULE.bazel", ".bazelrc", "tools/ci.bazelrc",
        "rules/defs.bzl", ".bazelversion", "tools/deps.MODULE.bazel",
        "\"app/od\\303\\251.cc\""}) {
    EXPECT_TRUE(AreChangedBy('M', path)) << path;
  }
}

}  // namespace
}  // namespace footprint
