#include "footprint/profiling/python/python_interpreter.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

int folder = -1;
std::future<bool> has_begun;
bool has_waited = false;

void BeginRecordMeanwhile() {
  has_begun = std::async(std::launch::async, [] {
    return BeginPythonRecord(folder, "python", /*with_calls=*/false);
  });
  has_waited = has_begun.wait_for(std::chrono::milliseconds(100)) ==
               std::future_status::timeout;
}

// Registers its handler before the interpreter's: a fork calls the handlers
// that were registered last first.
__attribute__((constructor(101))) void BeginRecordInFork() {
  pthread_atfork(BeginRecordMeanwhile, nullptr, nullptr);
}

// Otherwise the child would have half a record.
TEST(PythonInterpreterTest, NoRecordBeginsWhileAThreadForks) {
  folder = open(testing::TempDir().c_str(), O_PATH | O_DIRECTORY);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_TRUE(has_waited);
  EXPECT_TRUE(has_begun.get());
  EXPECT_EQ(faccessat(folder, "python", F_OK, 0), 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  close(folder);
}

}  // namespace
}  // namespace footprint::profiling_internal
