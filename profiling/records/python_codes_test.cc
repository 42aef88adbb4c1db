#include "footprint/profiling/records/python_codes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/python_record.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using profiling_internal::kMaxPythonCodes;
using profiling_internal::kMaxPythonLineTableBytes;
using profiling_internal::kMaxPythonNameCharacters;
using profiling_internal::kMaxPythonTextBytes;
using profiling_internal::kPythonMagic;
using profiling_internal::PythonCodeRecord;
using profiling_internal::PythonFrames;
using profiling_internal::PythonObjects;
using profiling_internal::PythonRecord;

// Tests a record of 3.11.2 with one function: a file, a name and a table of
// three bytes.
class PythonCodesTest : public testing::Test {
 protected:
  PythonCodesTest()
      : path_(testing::TempDir() + "/x.python"),
        file_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600)) {
    EXPECT_EQ(ftruncate(file_, sizeof(PythonRecord)), 0);
    Set(offsetof(PythonRecord, magic), kPythonMagic);
    Set(offsetof(PythonRecord, version), uint32_t{0x030b02f0});
    Set(offsetof(PythonRecord, code_count), uint32_t{1});
    SetCode({0, 4, 1, 3, 17, 1, 1});
    SetText("x.pyf\x80\x01\x02");
  }
  ~PythonCodesTest() override { close(file_); }

  template <typename T>
  void Set(size_t offset, const T& value) {
    ASSERT_EQ(pwrite(file_, &value, sizeof(value), static_cast<off_t>(offset)),
              static_cast<ssize_t>(sizeof(value)));
  }
  void SetCode(const PythonCodeRecord& code) {
    Set(offsetof(PythonRecord, codes), code);
  }
  void SetText(absl::string_view text) {
    ASSERT_EQ(
        pwrite(file_, text.data(), text.size(), offsetof(PythonRecord, text)),
        static_cast<ssize_t>(text.size()));
  }

  const std::string path_;
  const int file_;
};

TEST_F(PythonCodesTest, IsWhatTheFileHolds) {
  Set(offsetof(PythonRecord, frames), PythonFrames::kRead);
  Set(offsetof(PythonRecord, objects), PythonObjects::kCounted);
  Set(offsetof(PythonRecord, module_begin_address), uint64_t{0x4000});
  const auto python = ReadPythonCodes(path_);
  ASSERT_THAT(python, IsOk());
  EXPECT_EQ(python->interpreter, "CPython 3.11.2");
  EXPECT_EQ(python->module_begin_address, 0x4000u);
  EXPECT_TRUE(python->has_calls);
  EXPECT_TRUE(python->objects_are_counted);
  EXPECT_FALSE(python->is_incomplete);
  ASSERT_EQ(python->codes.size(), 1u);
  EXPECT_EQ(python->codes[0].file, "x.py");
  EXPECT_EQ(python->codes[0].name, "f");
  EXPECT_EQ(python->codes[0].line_table, "\x80\x01\x02");
  EXPECT_EQ(python->codes[0].first_line, 17);
}

TEST_F(PythonCodesTest, SaysWhatIsNotKnown) {
  Set(offsetof(PythonRecord, frames), PythonFrames::kUntested);
  Set(offsetof(PythonRecord, objects), PythonObjects::kAsChosen);
  Set(offsetof(PythonRecord, is_full), uint32_t{1});
  const auto python = ReadPythonCodes(path_);
  ASSERT_THAT(python, IsOk());
  EXPECT_FALSE(python->has_calls);
  EXPECT_FALSE(python->objects_are_counted);
  EXPECT_TRUE(python->is_incomplete);
}

// Names have the interpreter's form: one, two or four bytes a character.
TEST_F(PythonCodesTest, NamesAreUtf8) {
  SetCode({0, 3, 4, 0, 1, 1, 2});
  SetText(absl::string_view("a\xe9z\xac\x20\x41\0", 7));
  auto python = ReadPythonCodes(path_);
  ASSERT_THAT(python, IsOk());
  EXPECT_EQ(python->codes[0].file, "a\xc3\xa9z");
  EXPECT_EQ(python->codes[0].name,
            "\xe2\x82\xac"
            "A");
  SetCode({0, 4, 2, 0, 1, 4, 2});
  SetText(absl::string_view("\x00\xf6\x01\x00\x00\xd8", 6));
  python = ReadPythonCodes(path_);
  ASSERT_THAT(python, IsOk());
  EXPECT_EQ(python->codes[0].file, "\xf0\x9f\x98\x80");
  EXPECT_EQ(python->codes[0].name, "\xef\xbf\xbd");
}

// Each text would be valid alone, but they would all be read.
TEST_F(PythonCodesTest, TextsThatOverlapAreRefused) {
  constexpr uint32_t kCount = 65;
  Set(offsetof(PythonRecord, code_count), kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    Set(offsetof(PythonRecord, codes) + i * sizeof(PythonCodeRecord),
        PythonCodeRecord{0, 0, 0, kMaxPythonLineTableBytes, 1, 1, 1});
  }
  EXPECT_THAT(ReadPythonCodes(path_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr("more text than the file")));
  // Sixty-four texts are all of the file's text, and no more.
  static_assert(kMaxPythonTextBytes == 64 * kMaxPythonLineTableBytes);
  Set(offsetof(PythonRecord, code_count), uint32_t{64});
  EXPECT_THAT(ReadPythonCodes(path_), IsOk());
}

TEST_F(PythonCodesTest, DamageIsRefused) {
  const auto expect_damaged = [&](absl::string_view how) {
    EXPECT_THAT(
        ReadPythonCodes(path_),
        StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr(how)));
  };
  SetCode({0, 4, 1, 3, 17, 3, 1});
  expect_damaged("texts are nowhere");
  SetCode({kMaxPythonTextBytes, 4, 1, 3, 17, 1, 1});
  expect_damaged("texts are nowhere");
  SetCode({0, ~uint32_t{0}, ~uint32_t{0}, 3, 17, 1, 1});
  expect_damaged("more text than the file");
  SetCode({0, 0, kMaxPythonNameCharacters * 2 + 1, 0, 17, 1, 2});
  expect_damaged("too long");
  SetCode({0, 0, 0, kMaxPythonLineTableBytes + 1, 17, 1, 1});
  expect_damaged("too long");
  Set(offsetof(PythonRecord, code_count), kMaxPythonCodes + 1);
  expect_damaged("longer than it can be");
  Set(offsetof(PythonRecord, magic), uint64_t{1});
  expect_damaged("this version");
}

TEST_F(PythonCodesTest, AFileThatWasCutShortIsRefused) {
  ASSERT_EQ(ftruncate(file_, 5000), 0);
  EXPECT_THAT(ReadPythonCodes(path_), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace footprint
