#include "footprint/profiling/agent/process_record_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

class ProcessRecordFileTest : public testing::Test {
 protected:
  ProcessRecordFileTest()
      : path_(testing::TempDir() + "/" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    (void)!std::system(("rm -rf " + path_ + " && mkdir " + path_).c_str());
    folder_ = open(path_.c_str(), O_PATH | O_DIRECTORY);
  }
  ~ProcessRecordFileTest() override { close(folder_); }

  const std::string path_;
  int folder_ = -1;
};

TEST_F(ProcessRecordFileTest, EachImageHasItsRecord) {
  ProcessRecord* const first = CreateProcessRecord(folder_, 7);
  ProcessRecord* const second = CreateProcessRecord(folder_, 7);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(first->image, 0);
  EXPECT_EQ(second->image, 1);
  EXPECT_EQ(access((path_ + "/7.1.record").c_str(), R_OK), 0);
  CloseProcessRecord(first);
  CloseProcessRecord(second);
}

TEST_F(ProcessRecordFileTest, ALostImageCountsInTheImageBefore) {
  ProcessRecord* const parent = CreateProcessRecord(folder_, 1);
  EXPECT_FALSE(CountLostImage(folder_, 7, 2));
  EXPECT_TRUE(CountLostImage(folder_, 7, 1));
  EXPECT_EQ(parent->lost_child_count.load(), 1);
  ProcessRecord* const first = CreateProcessRecord(folder_, 7);
  ProcessRecord* const second = CreateProcessRecord(folder_, 7);
  EXPECT_TRUE(CountLostImage(folder_, 7, 1));
  EXPECT_EQ(parent->lost_child_count.load(), 1);
  EXPECT_EQ(first->lost_child_count.load(), 0);
  EXPECT_EQ(second->lost_child_count.load(), 1);
  for (ProcessRecord* record : {parent, first, second}) {
    CloseProcessRecord(record);
  }
}

TEST_F(ProcessRecordFileTest, OneFreeDescriptorIsEnoughToFindTheLastImage) {
  ProcessRecord* const first = CreateProcessRecord(folder_, 7);
  ProcessRecord* const second = CreateProcessRecord(folder_, 7);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(folder_);
  close(next);
  rlimit limit = before;
  limit.rlim_cur = static_cast<rlim_t>(next) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(CountLostImage(folder_, 7, 1));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(first->lost_child_count.load(), 0);
  EXPECT_EQ(second->lost_child_count.load(), 1);
  CloseProcessRecord(first);
  CloseProcessRecord(second);
}

// The kernel sends SIGXFSZ to who writes beyond the limit.
TEST_F(ProcessRecordFileTest, ALimitOfFileSizesDoesNotEndTheProcess) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(CreateProcessRecord(folder_, 7) == nullptr ? 5 : 6);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_NE(access((path_ + "/7.0.record").c_str(), F_OK), 0);
}

TEST_F(ProcessRecordFileTest, WithoutAFolderThereIsNone) {
  EXPECT_EQ(CreateProcessRecord(-1, 7), nullptr);
  EXPECT_FALSE(CountLostImage(-1, 7, 1));
}

}  // namespace
}  // namespace footprint::profiling_internal
