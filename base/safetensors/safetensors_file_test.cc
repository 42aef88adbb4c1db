#include "footprint/base/safetensors/safetensors_file.h"

#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors.h"
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
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->name(), TestPath("file.safetensors"));
  const TensorInfo* const tensor = file->index().FindOrNull("a");
  ASSERT_NE(tensor, nullptr);
  std::string values(4, ' ');
  ASSERT_TRUE(
      file->Read(tensor->offset_bytes, tensor->size_bytes, &values[0]).ok());
  EXPECT_EQ(values, "abcd");
  EXPECT_TRUE(file->CheckUnchanged().ok());
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
    ASSERT_TRUE(file.ok()) << file.status();
    wrong.change();
    const absl::Status status = file->CheckUnchanged();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(wrong.text));
  }
}

TEST(SafetensorsFileTest, SaysWhereAShortenedFileEnds) {
  const std::string path = WriteFile();
  const absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const TensorInfo tensor = file->index().tensors()[0];
  ASSERT_EQ(truncate(path.c_str(), tensor.offset_bytes + 1), 0);
  char values[4];
  const absl::Status status =
      file->Read(tensor.offset_bytes, tensor.size_bytes, values);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("so it was shortened while it was in use"));
}

TEST(SafetensorsFileTest, RefusesWhatIsNoFile) {
  EXPECT_EQ(SafetensorsFile::Open(TestPath("missing")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(SafetensorsFile::Open(TestPath("")).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace footprint
