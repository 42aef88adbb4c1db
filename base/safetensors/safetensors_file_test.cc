#include "footprint/base/safetensors/safetensors_file.h"

#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

std::string WriteFile() {
  return WriteTestFile(
      "file.safetensors",
      SafetensorsBytes(
          R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "abcd"));
}

TEST(SafetensorsFileTest, ReadsATensor) {
  const absl::StatusOr<SafetensorsFile> file =
      SafetensorsFile::Open(WriteFile());
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(file->name(), TestPath("file.safetensors"));
  const TensorInfo* const tensor = file->index().FindOrNull("a");
  ASSERT_NE(tensor, nullptr);
  std::string values(4, ' ');
  ASSERT_THAT(file->Read(tensor->offset_bytes, tensor->size_bytes, &values[0]),
              IsOk());
  EXPECT_EQ(values, "abcd");
  EXPECT_THAT(file->CheckUnchanged(), IsOk());
}

TEST(SafetensorsFileTest, NoticesWhatBecomesOfTheFile) {
  const std::string path = TestPath("file.safetensors");
  struct Case {
    std::function<void()> change;
    const char* text;
  };
  for (const Case& wrong :
       {Case{[&] { std::ofstream(path, std::ios::in) << "xx"; }, "written to"},
        Case{[&] { std::ofstream(path, std::ios::app) << "x"; }, "lengthened"},
        Case{[&] { EXPECT_EQ(truncate(path.c_str(), 9), 0); }, "shortened"},
        Case{[&] { EXPECT_EQ(unlink(path.c_str()), 0); },
             "replaced or removed"}}) {
    const absl::StatusOr<SafetensorsFile> file =
        SafetensorsFile::Open(WriteFile(), Watch::kStrictly);
    ASSERT_THAT(file, IsOk());
    wrong.change();
    const absl::Status status = file->CheckUnchanged();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(status.message()), HasSubstr(wrong.text));
  }
}

TEST(SafetensorsFileTest, SaysWhereAShortenedFileEnds) {
  const std::string path = WriteFile();
  const absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  ASSERT_THAT(file, IsOk());
  const TensorInfo tensor = file->index().tensors()[0];
  ASSERT_EQ(truncate(path.c_str(), tensor.offset_bytes + 1), 0);
  char values[4];
  const absl::Status status =
      file->Read(tensor.offset_bytes, tensor.size_bytes, values);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("so it was shortened while it was in use"));
}

TEST(SafetensorsFileTest, RefusesWhatIsNoFile) {
  EXPECT_THAT(SafetensorsFile::Open(TestPath("missing")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(SafetensorsFile::Open(TestPath("")),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
