#include "footprint/gates/bundles/tar_reader.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/test_tar.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Reads all entries. Returns "KIND PATH LINK BYTES" for each.
absl::StatusOr<std::vector<std::string>> Read(
    const std::string& bytes, const BundleLimits& limits = BundleLimits(),
    std::string* sha256 = nullptr) {
  const MemoryFile file(bytes);
  TarReader reader({"the archive", "; make it anew"}, limits,
                   EndOfTime(limits));
  if (sha256 != nullptr) reader.ComputeHash();
  const absl::Status opened =
      reader.Open({file.descriptor(), 0, static_cast<int64_t>(bytes.size())});
  if (!opened.ok()) return opened;
  std::vector<std::string> found;
  TarEntry entry;
  absl::StatusOr<bool> has_entry = reader.Next(&entry);
  for (; has_entry.ok() && *has_entry; has_entry = reader.Next(&entry)) {
    std::string content;
    if (entry.kind == TarEntry::Kind::kFile) {
      const absl::Status status = reader.ReadFile(
          entry, [] { return absl::OkStatus(); },
          [&](absl::string_view piece) {
            content.append(piece.data(), piece.size());
            return absl::OkStatus();
          });
      if (!status.ok()) return status;
      EXPECT_EQ(
          bytes.substr(static_cast<size_t>(entry.offset_bytes), content.size()),
          content);
    }
    found.push_back(absl::StrCat(static_cast<int>(entry.kind), " ", entry.path,
                                 " ", entry.link, " ", content));
  }
  if (!has_entry.ok()) return has_entry.status();
  if (sha256 != nullptr) *sha256 = reader.FinishHashHex();
  return found;
}

TEST(TarReaderTest, EntriesComeInOrder) {
  const std::string bytes = absl::StrCat(
      UstarEntry("a/", '5'), UstarEntry("a/b", '0', "text"),
      UstarEntry("c", '2', "", "a/b"), UstarEntry("d", '1', "", "a/b"),
      UstarEntry("e", '6'), TarEnd());
  std::string sha256;
  const auto found = Read(bytes, BundleLimits(), &sha256);
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(*found, ElementsAre("1 a/  ", "0 a/b  text", "2 c a/b ",
                                  "3 d a/b ", "4 e  "));
  EXPECT_EQ(sha256, Sha256Hex(bytes));
}

// Debian's ca-certificates has such a name, in each image.
TEST(TarReaderTest, NamesOfPaxHeadersAreUtf8) {
  const std::string name =
      "gr\xc3\xb6\xc3\x9f"
      "e";
  const auto found = Read(absl::StrCat(
      PaxHeader("path", name), UstarEntry("short", '0', "1"), TarEnd()));
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(*found, ElementsAre("0 " + name + "  1"));
}

TEST(TarReaderTest, BytesOfAnEntryThatIsNoFileAreSkipped) {
  const auto found = Read(absl::StrCat(UstarEntry("a", '0', "1"),
                                       UstarEntry("b", '6', ""), TarEnd()));
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->size(), 2u);
}

TEST(TarReaderTest, AnEndIsNeededAndNothingFollows) {
  const std::string entry = UstarEntry("a", '0', "1");
  EXPECT_THAT(Read(entry), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("no end mark")));
  EXPECT_THAT(Read(absl::StrCat(entry, TarEnd(), entry)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("bytes behind its end; make it anew")));
  EXPECT_THAT(Read(absl::StrCat(entry, TarEnd(), TarEnd())), IsOk());
  EXPECT_THAT(Read(TarEnd()), IsOk());
}

TEST(TarReaderTest, AFileAboveTheLimitIsRefused) {
  BundleLimits limits;
  limits.unpacked_bytes = 5;
  const std::string first = UstarEntry("a", '0', "123");
  EXPECT_THAT(
      Read(absl::StrCat(first, UstarEntry("b", '0', "12"), TarEnd()), limits),
      IsOk());
  EXPECT_THAT(
      Read(absl::StrCat(first, UstarEntry("b", '0', "123"), TarEnd()), limits),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("'b'")));
}

TEST(TarReaderTest, AnErrorOfTheTakerEndsIt) {
  const std::string bytes = absl::StrCat(UstarEntry("a", '0', "123"), TarEnd());
  const MemoryFile file(bytes);
  const BundleLimits limits;
  TarReader reader({"the archive", ""}, limits, EndOfTime(limits));
  ASSERT_THAT(
      reader.Open({file.descriptor(), 0, static_cast<int64_t>(bytes.size())}),
      IsOk());
  TarEntry entry;
  ASSERT_THAT(reader.Next(&entry), IsOk());
  EXPECT_THAT(reader.ReadFile(
                  entry, [] { return absl::OkStatus(); },
                  [](absl::string_view) { return absl::AbortedError("full"); }),
              StatusIs(absl::StatusCode::kAborted));
}

}  // namespace
}  // namespace footprint
