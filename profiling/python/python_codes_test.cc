#include "footprint/profiling/python/python_codes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/python_codes.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

// Tests objects with 3.12's layout, made by hand.
class PythonCodeWriterTest : public testing::Test {
 protected:
  PythonCodeWriterTest() {
    EXPECT_TRUE(FindInterpreterLayout(0x030c01f0, nullptr, &layout_));
    codes_.SetLayout(layout_, {kCodeType, kStrType, kBytesType});
    const int folder = open(testing::TempDir().c_str(), O_PATH);
    unlink(Path().c_str());
    EXPECT_TRUE(codes_.Begin(
        folder, "codes.python",
        {0x030c01f0, PythonFrames::kRead, PythonObjects::kAsChosen, 0x4000}));
    close(folder);
  }
  ~PythonCodeWriterTest() override {
    codes_.Close();
    unlink(Path().c_str());
  }

  static constexpr uintptr_t kCodeType = 0x1000;
  static constexpr uintptr_t kStrType = 0x2000;
  static constexpr uintptr_t kBytesType = 0x3000;

  static std::string Path() { return testing::TempDir() + "/codes.python"; }

  template <typename T>
  static void Set(uintptr_t object, uint32_t offset, T value) {
    std::memcpy(reinterpret_cast<void*>(object + offset), &value,
                sizeof(value));
  }

  uintptr_t NewObject(uintptr_t type, size_t size) {
    objects_.push_back(std::make_unique<uintptr_t[]>(32 + size));
    const auto object = reinterpret_cast<uintptr_t>(objects_.back().get());
    Set(object, kObjectType, type);
    return object;
  }

  // Makes a string with `kind` bytes a character.
  uintptr_t NewStr(absl::string_view text, uint32_t kind, bool is_ascii) {
    const uintptr_t object = NewObject(kStrType, text.size());
    Set(object, kStrLength, uint64_t{text.size() / kind});
    Set(object, kStrState, kind << 2 | 1u << 5 | (is_ascii ? 1u << 6 : 0u));
    std::memcpy(
        reinterpret_cast<void*>(
            object + (is_ascii ? layout_.str_ascii : layout_.str_compact)),
        text.data(), text.size());
    return object;
  }

  uintptr_t NewBytes(absl::string_view bytes) {
    const uintptr_t object = NewObject(kBytesType, bytes.size());
    Set(object, kBytesSize, uint64_t{bytes.size()});
    std::memcpy(reinterpret_cast<void*>(object + kBytesContent), bytes.data(),
                bytes.size());
    return object;
  }

  void SetCode(uintptr_t code, uintptr_t name, int32_t first_line) {
    Set(code, layout_.code_file_name, NewStr("x.py", 1, true));
    Set(code, layout_.code_qualified_name, name);
    Set(code, layout_.code_line_table, NewBytes("\x80\x01"));
    Set(code, layout_.code_first_line, first_line);
  }
  uintptr_t NewCode(absl::string_view name, int32_t first_line) {
    const uintptr_t code = NewObject(kCodeType, 256);
    SetCode(code, NewStr(name, 1, true), first_line);
    return code;
  }

  PythonCodes Read() {
    const auto read = ReadPythonCodes(Path());
    EXPECT_THAT(read, IsOk());
    return read.ok() ? *read : PythonCodes();
  }

  InterpreterLayout layout_;
  PythonCodeWriter codes_;
  std::vector<std::unique_ptr<uintptr_t[]>> objects_;
};

TEST_F(PythonCodeWriterTest, EachCodeObjectHasANumberAndARecord) {
  const uintptr_t fit = NewCode("Model.fit", 7);
  const uintptr_t load = NewCode("load", 1);
  EXPECT_EQ(codes_.FindNumber(fit), 0u);
  EXPECT_EQ(codes_.FindNumber(load), 1u);
  EXPECT_EQ(codes_.FindNumber(fit), 0u);
  codes_.NoteThatObjectsCount();
  const PythonCodes read = Read();
  EXPECT_EQ(read.interpreter, "CPython 3.12.1");
  EXPECT_TRUE(read.has_calls);
  EXPECT_TRUE(read.objects_are_counted);
  EXPECT_EQ(read.module_begin_address, 0x4000u);
  ASSERT_EQ(read.codes.size(), 2u);
  EXPECT_EQ(read.codes[0].name, "Model.fit");
  EXPECT_EQ(read.codes[0].file, "x.py");
  EXPECT_EQ(read.codes[0].line_table, "\x80\x01");
  EXPECT_EQ(read.codes[0].first_line, 7);
}

// Code is compiled repeatedly from one source.
TEST_F(PythonCodeWriterTest, TheSameContentHasOneNumber) {
  const uint32_t number = codes_.FindNumber(NewCode("made", 3));
  for (int i = 0; i < 20000; ++i) {
    ASSERT_EQ(codes_.FindNumber(NewCode("made", 3)), number);
    objects_.clear();
  }
  EXPECT_EQ(Read().codes.size(), 1u);
}

TEST_F(PythonCodeWriterTest, AnotherAtTheSameAddressIsSeen) {
  const uintptr_t code = NewCode("first", 3);
  EXPECT_EQ(codes_.FindNumber(code), 0u);
  SetCode(code, NewStr("second", 1, true), 3);
  EXPECT_EQ(codes_.FindNumber(code), 1u);
  Set(code, layout_.code_first_line, int32_t{4});
  EXPECT_EQ(codes_.FindNumber(code), 2u);
}

TEST_F(PythonCodeWriterTest, NamesMayHaveWideCharacters) {
  const uintptr_t code = NewObject(kCodeType, 256);
  SetCode(code, NewStr(absl::string_view("\xac\x20", 2), 2, false), 1);
  EXPECT_EQ(codes_.FindNumber(code), 0u);
  EXPECT_EQ(Read().codes[0].name, "\xe2\x82\xac");
}

TEST_F(PythonCodeWriterTest, OtherObjectsHaveNone) {
  EXPECT_EQ(codes_.FindNumber(0), PythonCodeWriter::kNone);
  EXPECT_EQ(codes_.FindNumber(0x7001), PythonCodeWriter::kNone);
  EXPECT_EQ(codes_.FindNumber(NewStr("x", 1, true)), PythonCodeWriter::kNone);
  // The code object is incomplete: it has no name yet.
  const uintptr_t code = NewObject(kCodeType, 256);
  SetCode(code, 0, 1);
  EXPECT_EQ(codes_.FindNumber(code), PythonCodeWriter::kNone);
  EXPECT_TRUE(Read().codes.empty());
}

TEST_F(PythonCodeWriterTest, GivesAllPagesBack) {
  EXPECT_NE(codes_.FindNumber(NewCode("f", 1)), PythonCodeWriter::kNone);
  codes_.Close();
  const int folder = open(testing::TempDir().c_str(), O_PATH);
  const uintptr_t code = NewCode("g", 2);
  unlink(Path().c_str());
  const int64_t before = ReadResidentBytes().mapped_bytes;
  ASSERT_TRUE(codes_.Begin(
      folder, "codes.python",
      {0x030c01f0, PythonFrames::kRead, PythonObjects::kAsChosen, 0x4000}));
  const uint32_t number = codes_.FindNumber(code);
  const int64_t begun = ReadResidentBytes().mapped_bytes;
  codes_.Close();
  const int64_t after = ReadResidentBytes().mapped_bytes;
  close(folder);
  EXPECT_NE(number, PythonCodeWriter::kNone);
  EXPECT_GT(begun, before);
  EXPECT_EQ(after, before);
}

TEST_F(PythonCodeWriterTest, WithoutAFileThereAreNoNumbers) {
  codes_.Close();
  EXPECT_EQ(codes_.FindNumber(NewCode("f", 1)), PythonCodeWriter::kNone);
}

}  // namespace
}  // namespace footprint::profiling_internal
