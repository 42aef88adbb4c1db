#include "footprint/profiling/records/measured_process.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/process_record.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using profiling_internal::kRecordMagic;
using profiling_internal::ProcessEnd;
using profiling_internal::ProcessRecord;

class MeasuredProcessTest : public testing::Test {
 protected:
  MeasuredProcessTest()
      : folder_(testing::TempDir() + "/records_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    (void)!std::system(("rm -rf " + folder_ + " && mkdir " + folder_).c_str());
  }

  static std::unique_ptr<ProcessRecord> Record(int process, int64_t begin_ns) {
    auto record = std::make_unique<ProcessRecord>();
    std::memset(static_cast<void*>(record.get()), 0, sizeof(ProcessRecord));
    record->magic = kRecordMagic;
    record->process_id = process;
    record->begin_time_ns = begin_ns;
    record->heap.peak_live_bytes = 1000;
    return record;
  }

  void Write(const std::string& name, const ProcessRecord& record,
             size_t size = sizeof(ProcessRecord)) {
    const absl::string_view bytes(reinterpret_cast<const char*>(&record), size);
    ASSERT_THAT(ReplaceFile(folder_ + "/" + name, bytes, ToDisk::kNoFsync),
                IsOk());
  }

  const std::string folder_;
};

TEST_F(MeasuredProcessTest, ProcessesComeInTheOrderOfTheirBegin) {
  Write("2.0.record", *Record(2, 30));
  Write("1.0.record", *Record(1, 20));
  Write("3.0.record", *Record(3, 10));
  const auto processes = ReadRecords(folder_);
  ASSERT_THAT(processes, IsOk());
  ASSERT_EQ(processes->size(), 3u);
  EXPECT_EQ((*processes)[0].figures.process_id(), 3);
  EXPECT_EQ((*processes)[1].figures.process_id(), 1);
  EXPECT_EQ((*processes)[2].figures.process_id(), 2);
}

TEST_F(MeasuredProcessTest, ObjectsAreThoseOfTheList) {
  Write("1.0.record", *Record(1, 10));
  Write("2.0.record", *Record(2, 20));
  ASSERT_THAT(ReplaceFile(folder_ + "/1.0.objects", "/lib/a.so\n/lib/b.so\n",
                          ToDisk::kNoFsync),
              IsOk());
  const auto processes = ReadRecords(folder_);
  ASSERT_THAT(processes, IsOk());
  EXPECT_EQ((*processes)[0].loaded_objects,
            (std::vector<std::string>{"/lib/a.so", "/lib/b.so"}));
  EXPECT_TRUE((*processes)[1].loaded_objects.empty());
}

TEST_F(MeasuredProcessTest, FiguresAreTheRecords) {
  auto record = Record(7, 10);
  record->is_fork = 1;
  record->inherited_live_bytes = 300;
  record->lost_child_count = 3;
  std::strcpy(record->allocator, "glibc 2.36");
  std::strcpy(record->executable, "/usr/bin/python3");
  std::memcpy(record->command_line, "python3\0-c\0pass\0", 16);
  record->command_line_size = 16;
  Write("7.0.record", *record);
  auto processes = ReadRecords(folder_);
  ASSERT_THAT(processes, IsOk());
  const MeasuredProcess& process = processes->front();
  EXPECT_EQ(process.figures.allocator(), "glibc 2.36");
  EXPECT_EQ(process.figures.peak_live_bytes(), 1000);
  EXPECT_EQ(process.figures.inherited_live_bytes(), 300);
  EXPECT_EQ(process.figures.lost_child_count(), 3);
  EXPECT_TRUE(process.figures.is_fork());
  EXPECT_FALSE(process.figures.has_totals());
  EXPECT_EQ(process.figures.executable(), "/usr/bin/python3");
  EXPECT_THAT(process.figures.command_line(),
              testing::ElementsAre("python3", "-c", "pass"));
  EXPECT_FALSE(process.sites.has_value());
  record->end = ProcessEnd::kAtOnce;
  Write("7.0.record", *record);
  processes = ReadRecords(folder_);
  ASSERT_THAT(processes, IsOk());
  EXPECT_TRUE(processes->front().figures.has_totals());
  EXPECT_EQ(processes->front().figures.end(), MeasuredImage::EXITED_AT_ONCE);
}

TEST_F(MeasuredProcessTest, APeakBeforeTheRecordHasTheTimeOfTheBegin) {
  Write("1.0.record", *Record(1, 52'334'000'000'000));
  const auto processes = ReadRecords(folder_);
  ASSERT_THAT(processes, IsOk());
  ASSERT_EQ(processes->size(), 1u);
  EXPECT_EQ((*processes)[0].figures.peak_time_ns(), 52'334'000'000'000);
}

// A damaged record's size is not trusted.
TEST_F(MeasuredProcessTest, NothingIsReadBeyondTheRecord) {
  auto record = Record(7, 10);
  record->command_line_size = 1 << 30;
  std::memset(record->command_line, 'x', sizeof(record->command_line));
  std::memset(record->executable, 'y', sizeof(record->executable));
  Write("7.0.record", *record);
  const auto processes = ReadRecords(folder_);
  ASSERT_THAT(processes, IsOk());
  EXPECT_EQ(processes->front().figures.executable().size(),
            sizeof(record->executable));
  EXPECT_EQ(processes->front().figures.command_line(0).size(),
            sizeof(record->command_line));
}

TEST_F(MeasuredProcessTest, NamesNeedNotBeUtf8) {
  auto record = Record(7, 10);
  std::memcpy(record->executable, "\xff\xfe", 3);
  Write("7.0.record", *record);
  const auto processes = ReadRecords(folder_);
  ASSERT_THAT(processes, IsOk());
  EXPECT_EQ(processes->front().figures.executable(), "\\xff\\xfe");
}

// The agent sets its magic last, so a process that was killed earlier has none.
TEST_F(MeasuredProcessTest, ARecordThatHasNotBegunIsPassedOver) {
  auto record = Record(7, 10);
  record->magic = 0;
  Write("7.0.record", *record);
  const auto processes = ReadRecords(folder_);
  ASSERT_THAT(processes, IsOk());
  EXPECT_TRUE(processes->empty());
}

TEST_F(MeasuredProcessTest, OtherFilesAreNamed) {
  auto record = Record(7, 10);
  record->magic = kRecordMagic + 1;
  Write("7.0.record", *record);
  EXPECT_THAT(ReadRecords(folder_), StatusIs(absl::StatusCode::kInvalidArgument,
                                             testing::HasSubstr("7.0.record")));
  record->magic = kRecordMagic;
  Write("7.0.record", *record, 100);
  EXPECT_THAT(ReadRecords(folder_), StatusIs(absl::StatusCode::kInvalidArgument,
                                             testing::HasSubstr("100 bytes")));
  record->has_sites = 1;
  Write("7.0.record", *record);
  EXPECT_THAT(ReadRecords(folder_), StatusIs(absl::StatusCode::kNotFound,
                                             testing::HasSubstr("7.0.sites")));
  EXPECT_THAT(ReadRecords(folder_ + "/none"),
              StatusIs(absl::StatusCode::kNotFound));
}

// A file beside a record may be missing, but must not be damaged.
TEST_F(MeasuredProcessTest, DamagedFilesBesideARecordAreNamed) {
  Write("7.0.record", *Record(7, 10));
  ASSERT_THAT(ReadRecords(folder_), IsOk());
  for (const char* name : {"7.0.processor_time", "7.0.copies", "7.0.python"}) {
    const std::string path = folder_ + "/" + name;
    ASSERT_THAT(ReplaceFile(path, "damaged", ToDisk::kNoFsync), IsOk());
    EXPECT_THAT(ReadRecords(folder_), StatusIs(absl::StatusCode::kDataLoss,
                                               testing::HasSubstr(name)));
    ASSERT_EQ(std::remove(path.c_str()), 0);
  }
  EXPECT_THAT(ReadRecords(folder_), IsOk());
}

}  // namespace
}  // namespace footprint
