#include "footprint/profiling/samples/stack_tally_writer.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/stack_tallies.h"
#include "footprint/profiling/records/stack_tallies_record.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

using Stack = std::vector<uintptr_t>;

class StackTallyWriterTest : public testing::Test {
 protected:
  StackTallyWriterTest()
      : folder_(open(testing::TempDir().c_str(), O_PATH | O_DIRECTORY)) {
    unlink(Path().c_str());
  }
  ~StackTallyWriterTest() override {
    writer_.Close();
    unlink(Path().c_str());
    close(folder_);
  }

  static std::string Path() { return testing::TempDir() + "/tallies"; }

  void Begin() { ASSERT_TRUE(writer_.Begin(folder_, "tallies", 4096)); }

  StackTallies Read() {
    const absl::StatusOr<StackTallies> tallies =
        ReadStackTallies(Path(), "tests");
    EXPECT_THAT(tallies, IsOk());
    return tallies.ok() ? *tallies : StackTallies();
  }

  // Returns the stack, innermost first. Addresses outside all objects are kept.
  static Stack ReadStack(const StackTallies& tallies, int node) {
    Stack stack;
    for (; node != CallTree::kNone;
         node = tallies.tree.nodes[static_cast<size_t>(node)].parent) {
      stack.push_back(tallies.tree.nodes[static_cast<size_t>(node)].address);
    }
    return stack;
  }

  static std::map<Stack, int64_t> SumsByStack(const StackTallies& tallies) {
    std::map<Stack, int64_t> sums;
    for (const StackTallies::Tally& each : tallies.tallies) {
      sums[ReadStack(tallies, each.node)] += each.amounts[0];
    }
    return sums;
  }

  const int folder_;
  StackTallyWriter writer_;
};

Stack RandomStack(RandomSequence* random) {
  Stack stack(random->Below(6));
  for (uintptr_t& call : stack) call = 16 + random->Below(20);
  return stack;
}

TallyAddition Amount(int64_t amount) {
  TallyAddition addition;
  addition.amounts[0] = amount;
  addition.amounts[1] = 1;
  addition.variance = 0.5 * static_cast<double>(amount);
  return addition;
}

TEST_F(StackTallyWriterTest, ReadsAsWhatWasAdded) {
  Begin();
  RandomSequence random(1);
  std::map<Stack, int64_t> expected;
  for (int i = 0; i < 5000; ++i) {
    const Stack stack = RandomStack(&random);
    const auto amount = static_cast<int64_t>(random.Below(100)) + 1;
    expected[stack] += amount;
    writer_.Add(stack.data(), static_cast<int>(stack.size()), Amount(amount));
  }
  const StackTallies tallies = Read();
  EXPECT_EQ(tallies.sampling_interval, 4096);
  EXPECT_FALSE(tallies.is_incomplete);
  EXPECT_EQ(SumsByStack(tallies), expected);
  // There is one tally for each stack.
  EXPECT_EQ(tallies.tallies.size(), expected.size());
  int64_t samples = 0;
  for (const StackTallies::Tally& each : tallies.tallies) {
    samples += each.sample_count;
    EXPECT_EQ(each.amounts[1], each.sample_count);
    EXPECT_EQ(each.variance, 0.5 * static_cast<double>(each.amounts[0]));
  }
  EXPECT_EQ(samples, 5000);
}

// Another library may lie where one was that was unloaded. The record then says
// that the code was of a library with another path.
TEST_F(StackTallyWriterTest, ALibraryAtTheAddressesOfAnotherIsAnotherModule) {
  Begin();
  const auto in_library = reinterpret_cast<uintptr_t>(&std::strtol);
  const uintptr_t first = in_library + 1;
  writer_.Add(&first, 1, Amount(1));
  const uintptr_t second = in_library + 2;
  writer_.Add(&second, 1, Amount(1));
  ASSERT_EQ(Read().tree.modules.size(), 1u);
  const int file = open(Path().c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(pwrite(file, "/gone.so", 9,
                   offsetof(StackTalliesFile, tree) +
                       offsetof(CallTreeRecord, modules) +
                       offsetof(ModuleRecord, path)),
            9);
  close(file);
  writer_.ForgetCode();
  const uintptr_t third = in_library + 3;
  writer_.Add(&third, 1, Amount(1));
  const StackTallies tallies = Read();
  ASSERT_EQ(tallies.tree.modules.size(), 2u);
  EXPECT_EQ(tallies.tree.modules[0].path, "/gone.so");
  EXPECT_THAT(tallies.tree.modules[1].path, testing::HasSubstr("libc"));
}

// Nothing is lost, whichever threads add at once.
TEST_F(StackTallyWriterTest, AddsUpOverThreads) {
  constexpr int kThreads = 4;
  constexpr int kAdditions = 20000;
  for (uint64_t round = 1; round <= 4; ++round) {
    unlink(Path().c_str());
    Begin();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      // All threads add the same stacks, so that several find a new one at
      // once.
      threads.emplace_back([this, round] {
        RandomSequence random(round);
        for (int i = 0; i < kAdditions; ++i) {
          const Stack stack = RandomStack(&random);
          writer_.Add(stack.data(), static_cast<int>(stack.size()), Amount(1));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    RandomSequence random(round);
    std::map<Stack, int64_t> expected;
    for (int i = 0; i < kAdditions; ++i) {
      expected[RandomStack(&random)] += kThreads;
    }
    EXPECT_EQ(SumsByStack(Read()), expected);
  }
}

StackTallyWriter* interrupting_writer = nullptr;
volatile sig_atomic_t interruptions = 0;

// Adds a new stack for each signal, and one that the interrupted code also
// adds.
void AddInHandler(int) {
  const uintptr_t own[] = {1000 + static_cast<uintptr_t>(interruptions), 17};
  interrupting_writer->Add(own, 2, Amount(1));
  interrupting_writer->Add(nullptr, 0, Amount(1));
  interruptions = interruptions + 1;
}

TEST_F(StackTallyWriterTest, MayBeInterruptedByItself) {
  Begin();
  interrupting_writer = &writer_;
  interruptions = 0;
  std::signal(SIGALRM, AddInHandler);
  const itimerval often = {{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, nullptr);
  int64_t additions = 0;
  for (uintptr_t call = 5000; interruptions < 300; ++call, ++additions) {
    // The stack is a new one each time.
    const uintptr_t stack[] = {call % 100000, 17, call % 7 + 20};
    writer_.Add(stack, 3, Amount(1));
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, SIG_DFL);
  int64_t sum = 0;
  for (const auto& [stack, amount] : SumsByStack(Read())) sum += amount;
  EXPECT_EQ(sum, additions + 2 * interruptions);
}

TEST_F(StackTallyWriterTest, KnowsTheObjectOfACall) {
  Begin();
  const auto own = reinterpret_cast<uintptr_t>(&RandomStack) + 1;
  writer_.Add(&own, 1, Amount(1));
  const StackTallies tallies = Read();
  ASSERT_EQ(tallies.tree.nodes.size(), 1u);
  ASSERT_EQ(tallies.tree.modules.size(), 1u);
  EXPECT_EQ(tallies.tree.nodes[0].address + tallies.tree.modules[0].load_bias,
            own);
  EXPECT_FALSE(tallies.tree.modules[0].path.empty());
}

// Code at the addresses of unloaded code is different code.
TEST_F(StackTallyWriterTest, ForgetsCodeThatWasUnloaded) {
  Begin();
  const uintptr_t call = 77;
  writer_.Add(&call, 1, Amount(1));
  writer_.ForgetCode();
  writer_.Add(&call, 1, Amount(2));
  const StackTallies tallies = Read();
  EXPECT_EQ(tallies.tree.nodes.size(), 2u);
  EXPECT_EQ(SumsByStack(tallies), (std::map<Stack, int64_t>{{{77}, 3}}));
}

TEST_F(StackTallyWriterTest, CountsThreadsThatWereMissed) {
  Begin();
  writer_.AddMissedThread();
  writer_.AddMissedThread();
  EXPECT_EQ(Read().missed_thread_count, 2);
}

TEST_F(StackTallyWriterTest, WithoutAFileNothingIsAdded) {
  const uintptr_t call = 5;
  writer_.Add(&call, 1, Amount(1));
  EXPECT_FALSE(writer_.is_open());
  EXPECT_FALSE(writer_.Begin(folder_, "no/such/folder", 1));
  EXPECT_FALSE(writer_.is_open());
}

// A file that could not be begun would look like a damaged record.
TEST_F(StackTallyWriterTest, LeavesNoFileWhereThereIsNoRoom) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 100000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_FALSE(writer_.Begin(folder_, "tallies", 1));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_NE(access(Path().c_str(), F_OK), 0);
}

TEST_F(StackTallyWriterTest, LeavesNoFileWhereItCannotBeMapped) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit none_left = before;
  none_left.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none_left), 0);
  const bool has_begun = writer_.Begin(folder_, "tallies", 1);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_FALSE(has_begun);
  EXPECT_NE(access(Path().c_str(), F_OK), 0);
}

}  // namespace
}  // namespace footprint::profiling_internal
