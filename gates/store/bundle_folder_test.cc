#include "footprint/gates/store/bundle_folder.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

BundleFolder NewFolder(const std::string& name) {
  absl::StatusOr<BundleFolder> folder = BundleFolder::Open(TestPath(name));
  EXPECT_THAT(folder, IsOk());
  return *std::move(folder);
}

absl::Status Upload(const BundleFolder& folder, const std::string& sha256,
                    const std::string& bytes) {
  absl::StatusOr<BundleUpload> upload =
      folder.StartUpload(sha256, static_cast<int64_t>(bytes.size()));
  if (!upload.ok()) return upload.status();
  const absl::Status status = upload->Append(bytes);
  return status.ok() ? upload->Finish() : status;
}

TEST(BundleFolderTest, ABundleHasTheNameOfItsHash) {
  const BundleFolder folder = NewFolder("named");
  const std::string sha256 = Sha256Hex("bytes");
  EXPECT_THAT(folder.FindSize(sha256), StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT(Upload(folder, sha256, "bytes"), IsOk());
  EXPECT_EQ(ReadTestFile(folder.MakePath(sha256)), "bytes");
  EXPECT_THAT(folder.FindSize(sha256), IsOkAndHolds(5));
  ASSERT_THAT(folder.Remove(sha256), IsOk());
  ASSERT_THAT(folder.Remove(sha256), IsOk());
  EXPECT_THAT(folder.FindSize(sha256), StatusIs(absl::StatusCode::kNotFound));
}

TEST(BundleFolderTest, WhatIsNotAsAnnouncedLeavesNothing) {
  const BundleFolder folder = NewFolder("announced");
  const std::string sha256 = Sha256Hex("bytes");
  EXPECT_THAT(Upload(folder, sha256, "bytez"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("SHA-256 is " + Sha256Hex("bytez"))));
  {
    absl::StatusOr<BundleUpload> half = folder.StartUpload(sha256, 5);
    ASSERT_THAT(half, IsOk());
    ASSERT_THAT(half->Append("byte"), IsOk());
    EXPECT_THAT(half->Finish(), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("4 bytes of 5")));
  }
  {
    absl::StatusOr<BundleUpload> more = folder.StartUpload(sha256, 5);
    ASSERT_THAT(more, IsOk());
    EXPECT_THAT(more->Append("bytes!"),
                StatusIs(absl::StatusCode::kResourceExhausted));
  }
  EXPECT_THAT(folder.StartUpload("../../etc/passwd", 5),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(folder.FindSize("../../etc/passwd"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(folder.FindSize(sha256), StatusIs(absl::StatusCode::kNotFound));
}

TEST(BundleFolderTest, TwoUploadsOfOneBundleAreRefused) {
  const BundleFolder folder = NewFolder("two");
  const std::string sha256 = Sha256Hex("bytes");
  const absl::StatusOr<BundleUpload> first = folder.StartUpload(sha256, 5);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(folder.StartUpload(sha256, 5),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST(BundleFolderTest, SweepsWhatNobodyWants) {
  const BundleFolder folder = NewFolder("swept");
  const std::string wanted = Sha256Hex("a");
  const std::string orphan = Sha256Hex("b");
  ASSERT_THAT(Upload(folder, wanted, "a"), IsOk());
  ASSERT_THAT(Upload(folder, orphan, "b"), IsOk());
  const std::string partial = "swept/" + wanted.substr(0, 2) + "/." +
                              Sha256Hex("c") + ".footprint-partial";
  WriteTestFile(partial, "half");
  ASSERT_THAT(
      folder.Sweep([&](absl::string_view sha256) { return sha256 == wanted; }),
      IsOk());
  EXPECT_THAT(folder.FindSize(wanted), IsOk());
  EXPECT_THAT(folder.FindSize(orphan), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_NE(access(TestPath(partial).c_str(), F_OK), 0);
}

TEST(BundleFolderTest, ACopyIsCompared) {
  const BundleFolder folder = NewFolder("from");
  const BundleFolder copy = NewFolder("to");
  const std::string bytes(3000000, 'x');
  const std::string sha256 = Sha256Hex(bytes);
  ASSERT_THAT(Upload(folder, sha256, bytes), IsOk());
  ASSERT_THAT(folder.CopyTo(sha256, copy), IsOk());
  EXPECT_EQ(ReadTestFile(copy.MakePath(sha256)), bytes);
  const std::string changed = Sha256Hex("changed");
  ASSERT_THAT(Upload(folder, changed, "changed"), IsOk());
  ASSERT_EQ(truncate(folder.MakePath(changed).c_str(), 3), 0);
  EXPECT_THAT(folder.CopyTo(changed, copy),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
