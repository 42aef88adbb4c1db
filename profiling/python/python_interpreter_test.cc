#include "footprint/profiling/python/python_interpreter.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>

#include "gtest/gtest.h"

namespace {

struct {
  void (*before)();
  void (*in_parent)();
} of_fork;

}  // namespace

// Stands before the C library's: keeps what it is given, for the test to call.
extern "C" int __wrap_pthread_atfork(void (*before)(), void (*in_parent)(),
                                     void (*)()) {
  of_fork = {before, in_parent};
  return 0;
}

namespace footprint::profiling_internal {
namespace {

// The child would have the half of it.
TEST(PythonInterpreterTest, NoRecordBeginsWhileAThreadForks) {
  const std::string folder_path = testing::TempDir();
  const int folder = open(folder_path.c_str(), O_PATH | O_DIRECTORY);
  ASSERT_NE(of_fork.before, nullptr);
  of_fork.before();
  std::future<bool> has_begun = std::async(std::launch::async, [folder] {
    return BeginPythonRecord(folder, "python", /*with_calls=*/false);
  });
  EXPECT_EQ(has_begun.wait_for(std::chrono::milliseconds(100)),
            std::future_status::timeout);
  EXPECT_NE(access((folder_path + "/python").c_str(), F_OK), 0);
  of_fork.in_parent();
  EXPECT_TRUE(has_begun.get());
  EXPECT_EQ(access((folder_path + "/python").c_str(), F_OK), 0);
  close(folder);
}

}  // namespace
}  // namespace footprint::profiling_internal
