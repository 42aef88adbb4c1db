#include "footprint/profiling/stacks/frame_rows.h"

#include <cstring>
#include <random>
#include <vector>

#include "footprint/base/random/property_seeds.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

using Bytes = std::vector<uint8_t>;

void Put(Bytes* bytes, size_t offset, int32_t value) {
  std::memcpy(bytes->data() + offset, &value, sizeof(value));
}

void Append(Bytes* bytes, const Bytes& more) {
  bytes->insert(bytes->end(), more.begin(), more.end());
}

// A section's header with one function, which has 256 bytes and follows it:
// header, CIE, FDE, and room for the function. `instructions` are the FDE's.
struct Section {
  static constexpr size_t kCommonAt = 32;
  static constexpr size_t kEntryAt = 64;
  static constexpr size_t kCodeAt = 2048;

  explicit Section(const Bytes& instructions, const char* augmentation = "zR",
                   bool is_return_address_known = true)
      : bytes(kCodeAt + 256) {
    // The version; pointers relative to themselves, a count, the usual table.
    bytes[0] = 1;
    bytes[1] = 0x1b;
    bytes[2] = 0x03;
    bytes[3] = 0x3b;
    Put(&bytes, 4, 0);
    Put(&bytes, 8, 1);
    Put(&bytes, 12, kCodeAt);
    Put(&bytes, 16, kEntryAt);
    Bytes common = {0, 0, 0, 0, 1};
    for (const char* letter = augmentation; *letter != '\0'; ++letter) {
      common.push_back(static_cast<uint8_t>(*letter));
    }
    // Code has units of 1 and data of -8. The return address is register 16.
    // One byte of augmentation makes pointers relative, with 4 bytes.
    Append(&common, {0, 1, 0x78, 16, 1, 0x1b});
    // CFA = sp + 8; the return address is at CFA - 8.
    Append(&common, {0x0c, 7, 8});
    if (is_return_address_known) Append(&common, {0x90, 1});
    Put(&bytes, kCommonAt, static_cast<int32_t>(common.size()));
    std::memcpy(bytes.data() + kCommonAt + 4, common.data(), common.size());
    Bytes entry = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    Append(&entry, instructions);
    Put(&entry, 0, kEntryAt + 4 - kCommonAt);
    Put(&entry, 4, kCodeAt - (kEntryAt + 8));
    Put(&bytes, kEntryAt, static_cast<int32_t>(entry.size()));
    std::memcpy(bytes.data() + kEntryAt + 4, entry.data(), entry.size());
  }

  FrameRow Row(size_t offset) const {
    return FindFrameRowIn(
        bytes.data(),
        reinterpret_cast<uintptr_t>(bytes.data()) + kCodeAt + offset);
  }

  Bytes bytes;
};

FrameRow Make(FrameRow::Kind kind, int32_t cfa, int32_t frame_pointer = 0) {
  return {kind, cfa, frame_pointer};
}

TEST(FrameRowsTest, AFunctionBeginsWithItsReturnAddressAlone) {
  EXPECT_EQ(Section({}).Row(0), Make(FrameRow::kStackPointer, 8));
  EXPECT_EQ(Section({}).Row(255), Make(FrameRow::kStackPointer, 8));
}

TEST(FrameRowsTest, OutsideOfEachFunctionNothingIsKnown) {
  EXPECT_EQ(Section({}).Row(256), FrameRow());
  const Section section({});
  EXPECT_EQ(FindFrameRowIn(section.bytes.data(), 1), FrameRow());
}

// A function as gcc -O0 writes it: push %rbp; mov %rsp, %rbp; ...
TEST(FrameRowsTest, ARowHoldsFromItsAddressOn) {
  const Section section({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6});
  EXPECT_EQ(section.Row(0), Make(FrameRow::kStackPointer, 8));
  EXPECT_EQ(section.Row(1), Make(FrameRow::kStackPointer, 16, -16));
  EXPECT_EQ(section.Row(3), Make(FrameRow::kStackPointer, 16, -16));
  EXPECT_EQ(section.Row(4), Make(FrameRow::kFramePointer, 16, -16));
}

TEST(FrameRowsTest, StatesAreRememberedAndRestored) {
  const Section section(
      {0x0e, 32, 0x86, 2, 0x0a, 0x42, 0x0e, 8, 0xc6, 0x42, 0x0b});
  EXPECT_EQ(section.Row(0), Make(FrameRow::kStackPointer, 32, -16));
  EXPECT_EQ(section.Row(2), Make(FrameRow::kStackPointer, 8));
  EXPECT_EQ(section.Row(4), Make(FrameRow::kStackPointer, 32, -16));
}

TEST(FrameRowsTest, LongAdvancesAndOffsets) {
  const Section section({0x02, 100, 0x0e, 0x80, 0x08, 0x03, 50, 0, 0x0e, 16});
  EXPECT_EQ(section.Row(99), Make(FrameRow::kStackPointer, 8));
  EXPECT_EQ(section.Row(100), Make(FrameRow::kStackPointer, 1024));
  EXPECT_EQ(section.Row(150), Make(FrameRow::kStackPointer, 16));
}

// gcc writes these instructions if it aligned the stack: CFA = *(bp - 8), bp at
// *bp.
TEST(FrameRowsTest, TheCfaMayBeStoredInTheFrame) {
  const Section section({0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0});
  EXPECT_EQ(section.Row(0), Make(FrameRow::kBehindFramePointer, -8));
}

// DW_CFA_GNU_negative_offset_extended means that many units above the CFA.
TEST(FrameRowsTest, TheFramePointerMayLieAboveTheCfa) {
  EXPECT_EQ(Section({0x2f, 6, 2}).Row(0), Make(FrameRow::kStackPointer, 8, 16));
}

TEST(FrameRowsTest, RowsAreEqualInAllOrNot) {
  const FrameRow row = Make(FrameRow::kStackPointer, 16, -16);
  EXPECT_TRUE(row == Make(FrameRow::kStackPointer, 16, -16));
  EXPECT_FALSE(row == Make(FrameRow::kFramePointer, 16, -16));
  EXPECT_FALSE(row == Make(FrameRow::kStackPointer, 24, -16));
  EXPECT_FALSE(row == Make(FrameRow::kStackPointer, 16, -24));
}

TEST(FrameRowsTest, OtherFormsAreUnknown) {
  // The CFA is in register 10, then given by another expression.
  EXPECT_EQ(Section({0x0c, 10, 0}).Row(0), FrameRow());
  EXPECT_EQ(Section({0x0f, 2, 0x77, 8}).Row(0), FrameRow());
  // The frame pointer is in another register; the return address is elsewhere.
  EXPECT_EQ(Section({0x09, 6, 3}).Row(0), FrameRow());
  EXPECT_EQ(Section({0x90, 2}).Row(0), FrameRow());
  // The instruction does not exist.
  EXPECT_EQ(Section({0x3f}).Row(0), FrameRow());
  // More states are remembered than fit; one too many is restored.
  EXPECT_EQ(Section(Bytes(9, 0x0a)).Row(0), FrameRow());
  EXPECT_EQ(Section({0x0b}).Row(0), FrameRow());
}

TEST(FrameRowsTest, TheOutermostFrameHasNoReturnAddress) {
  EXPECT_EQ(Section({0x07, 16}).Row(0), Make(FrameRow::kOutermost, 0));
}

TEST(FrameRowsTest, SignalFramesAreTold) {
  // "zRS" moves what follows by a byte, as Section writes it.
  EXPECT_EQ(Section({}, "zRS").Row(0), Make(FrameRow::kSignal, 0, 0));
}

TEST(FrameRowsTest, HeadersOfAnotherFormAreUnknown) {
  for (size_t offset : {0, 2, 3}) {
    Section section({});
    section.bytes[offset] = 0xff;
    EXPECT_EQ(section.Row(0), FrameRow()) << offset;
  }
}

// Whatever the entries hold, nothing beyond their sizes is read (ASan), and
// every loop ends.
TEST(FrameRowsTest, DamagedEntriesDoNoHarm) {
  for (uint32_t seed = 1; seed <= PropertySeedCount(); ++seed) {
    std::mt19937 random(seed);
    for (int round = 0; round < 50; ++round) {
      Section section({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6});
      const int changes = 1 + static_cast<int>(random() % 3);
      for (int i = 0; i < changes; ++i) {
        // The linker's lengths and distances are trusted, so they are not
        // damaged.
        const size_t at = random() % 2 == 0
                              ? Section::kCommonAt + 8 + random() % 12
                              : Section::kEntryAt + 16 + random() % 10;
        section.bytes[at] = static_cast<uint8_t>(random());
      }
      section.Row(random() % 256);
    }
  }
}

}  // namespace
}  // namespace footprint::profiling_internal
