#include "footprint/gates/bundles/unpacked_bytes.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/test_tar.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

struct Outcome {
  std::string bytes;
  std::string sha256;
  absl::Status status;
};

Outcome ReadAll(const MemoryFile& file, int64_t offset, int64_t size,
                const BundleLimits& limits) {
  UnpackedBytes bytes({"the file", "; make it anew"}, limits,
                      EndOfTime(limits));
  bytes.ComputeHash();
  Outcome outcome;
  outcome.status = bytes.Open({file.descriptor(), offset, size});
  if (!outcome.status.ok()) return outcome;
  const void* block = nullptr;
  int64_t got = bytes.Next(&block);
  for (; got > 0; got = bytes.Next(&block)) {
    outcome.bytes.append(static_cast<const char*>(block),
                         static_cast<size_t>(got));
  }
  outcome.status = bytes.status();
  if (got == 0) outcome.sha256 = bytes.FinishHashHex();
  return outcome;
}

std::string Text() {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += std::to_string(i);
  return text;
}

TEST(UnpackedBytesTest, EachFilterGivesTheBytes) {
  const std::string text = Text();
  for (const std::string& packed : {text, GzipOf(text), ZstdOf(text)}) {
    const MemoryFile file(packed);
    const Outcome outcome =
        ReadAll(file, 0, static_cast<int64_t>(packed.size()), BundleLimits());
    EXPECT_THAT(outcome.status, IsOk());
    EXPECT_EQ(outcome.bytes, text);
    EXPECT_EQ(outcome.sha256, Sha256Hex(text));
  }
}

TEST(UnpackedBytesTest, OnlyThePartIsRead) {
  const std::string packed = GzipOf(Text());
  const MemoryFile file("before" + packed + "behind");
  const Outcome outcome =
      ReadAll(file, 6, static_cast<int64_t>(packed.size()), BundleLimits());
  EXPECT_THAT(outcome.status, IsOk());
  EXPECT_EQ(outcome.bytes, Text());
}

TEST(UnpackedBytesTest, HalfOfItIsDamaged) {
  const std::string packed = ZstdOf(Text());
  const MemoryFile file(packed);
  EXPECT_THAT(
      ReadAll(file, 0, static_cast<int64_t>(packed.size()) / 2, BundleLimits())
          .status,
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("the file cannot be read: ")));
}

TEST(UnpackedBytesTest, LimitsHold) {
  const MemoryFile file(Text());
  BundleLimits limits;
  limits.archive_bytes = 10;
  EXPECT_THAT(ReadAll(file, 0, 11, limits).status,
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("the file has 11 bytes; 10 is the most")));
  EXPECT_THAT(ReadAll(file, 0, 10, limits).status, IsOk());
  limits.seconds = -1;
  EXPECT_THAT(ReadAll(file, 0, 10, limits).status,
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("does not unpack in")));
  limits = BundleLimits();
  limits.is_stopped = [] { return true; };
  EXPECT_THAT(ReadAll(file, 0, 10, limits).status,
              StatusIs(absl::StatusCode::kCancelled));
}

// Nobody keeps these bytes, but they take time.
TEST(UnpackedBytesTest, BytesThatNobodyKeepsAreLimited) {
  BundleLimits limits;
  limits.most_expansion = 0;
  const int64_t most_bytes = (16 + 2) << 20;
  for (const int64_t size_bytes : {most_bytes, most_bytes + 1}) {
    const std::string packed =
        ZstdOf(std::string(static_cast<size_t>(size_bytes), '\0'));
    const MemoryFile file(packed);
    EXPECT_EQ(ReadAll(file, 0, static_cast<int64_t>(packed.size()), limits)
                  .status.ok(),
              size_bytes == most_bytes);
  }
}

TEST(UnpackedBytesTest, TheExpansionIsLimited) {
  BundleLimits limits;
  limits.unpacked_bytes = 10 << 20;
  limits.most_expansion = 3;
  EXPECT_EQ(MostUnpackedBytes(0, limits), 1 << 20);
  EXPECT_EQ(MostUnpackedBytes(1 << 20, limits), 4 << 20);
  EXPECT_EQ(MostUnpackedBytes(4 << 20, limits), 10 << 20);
}

}  // namespace
}  // namespace footprint
