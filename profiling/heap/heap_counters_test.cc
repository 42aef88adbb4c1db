// Compares random calls of several threads, which take turns, with sums kept by
// hand; phases open and close anywhere. FOOTPRINT_PROPERTY_SEEDS sets how many
// seeds are tried.

#include "footprint/profiling/heap/heap_counters.h"

#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <vector>

#include "footprint/base/random/property_seeds.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr int kMaxThreads = 8;
constexpr int kPhaseCount = 6;
constexpr int kSlotCount = 24;
constexpr int kStepCount = 400;

// Bytes since the phase's begin, by addition.
struct PhaseTruth {
  HeapPhase phase;
  bool is_open = false;
  int64_t live_bytes = 0;
  int64_t peak_net_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t allocation_count = 0;
  std::array<int64_t, kMaxThreads> thread_live_bytes = {};
  std::array<int64_t, kMaxThreads> thread_peak_net_bytes = {};
  std::array<bool, kMaxThreads> is_active = {};

  void Change(int thread, int64_t change_bytes) {
    const size_t index = static_cast<size_t>(thread);
    live_bytes += change_bytes;
    peak_net_bytes = std::max(peak_net_bytes, live_bytes);
    thread_live_bytes[index] += change_bytes;
    thread_peak_net_bytes[index] =
        std::max(thread_peak_net_bytes[index], thread_live_bytes[index]);
    is_active[index] = true;
  }
};

struct Finding {
  PhaseTruth truth;
  HeapPhaseBytes bytes;
};

enum class Action { kAllocate, kReallocate, kFree, kPhase, kEnd };

// Neither the threads nor the sums allocate once the trial has begun.
class Trial {
 public:
  Trial(uint32_t seed, int thread_count)
      : random_(seed), thread_count_(thread_count) {
    findings_.reserve(kStepCount + kPhaseCount);
    sem_init(&done_, 0, 0);
    for (int i = 0; i < thread_count_; ++i) Start(i);
  }

  ~Trial() {
    for (int i = 0; i < thread_count_; ++i) {
      if (!has_ended_[static_cast<size_t>(i)]) Do(i, Action::kEnd);
    }
    for (void* block : slots_) std::free(block);
    sem_destroy(&done_);
  }

  const std::vector<Finding>& Run() {
    for (int step = 0; step < kStepCount; ++step) DoRandomStep();
    for (PhaseTruth& phase : phases_) {
      if (phase.is_open) Close(&phase);
    }
    return findings_;
  }

 private:
  struct Worker {
    Trial* trial = nullptr;
    int number = 0;
    pthread_t thread = {};
    sem_t turn;
  };

  void Start(int number) {
    Worker& worker = workers_[static_cast<size_t>(number)];
    worker.trial = this;
    worker.number = number;
    sem_init(&worker.turn, 0, 0);
    // Stacks are small, so that the C library keeps them all, and the blocks it
    // allocated for each, when a thread ends.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    pthread_create(&worker.thread, &attributes, RunWorker, &worker);
    pthread_attr_destroy(&attributes);
    sem_wait(&done_);
  }

  static void* RunWorker(void* argument) {
    auto* worker = static_cast<Worker*>(argument);
    // Registers the thread before the sums begin.
    free(malloc(1));
    Action action = Action::kAllocate;
    while (action != Action::kEnd) {
      sem_post(&worker->trial->done_);
      sem_wait(&worker->turn);
      action = worker->trial->action_;
      worker->trial->Act(worker->number);
    }
    return nullptr;
  }

  void Do(int number, Action action) {
    Worker& worker = workers_[static_cast<size_t>(number)];
    action_ = action;
    sem_post(&worker.turn);
    if (action != Action::kEnd) {
      sem_wait(&done_);
      return;
    }
    pthread_join(worker.thread, nullptr);
    sem_destroy(&worker.turn);
    has_ended_[static_cast<size_t>(number)] = true;
  }

  void DoRandomStep() {
    int number = static_cast<int>(random_() % kMaxThreads) % thread_count_;
    // The first thread lives to the end.
    if (has_ended_[static_cast<size_t>(number)]) number = 0;
    const uint32_t choice = random_() % 100;
    Action action = Action::kPhase;
    if (choice < 35) {
      action = Action::kAllocate;
    } else if (choice < 55) {
      action = Action::kReallocate;
    } else if (choice < 85) {
      action = Action::kFree;
    } else if (choice == 99 && number != 0) {
      action = Action::kEnd;
    }
    Do(number, action);
  }

  // Does the action in the thread `number`, while all others wait.
  void Act(int number) {
    void*& block = slots_[random_() % kSlotCount];
    switch (action_) {
      case Action::kAllocate:
        if (block == nullptr) Allocate(number, &block);
        break;
      case Action::kReallocate:
        if (block != nullptr) Reallocate(number, &block);
        break;
      case Action::kFree:
        if (block != nullptr) Free(number, &block);
        break;
      case Action::kPhase:
        OpenReadOrClose(&phases_[random_() % kPhaseCount]);
        break;
      case Action::kEnd:
        break;
    }
  }

  size_t RandomSize() {
    const uint32_t largest[] = {64, 3000, 20000, 3000000};
    return random_() % largest[random_() % 4] + 1;
  }

  static int64_t UsableBytes(void* block) {
    return static_cast<int64_t>(malloc_usable_size(block));
  }

  void Allocate(int number, void** block) {
    *block = malloc(RandomSize());
    Count(number, UsableBytes(*block), 0, UsableBytes(*block));
  }

  void Reallocate(int number, void** block) {
    const int64_t old_bytes = UsableBytes(*block);
    void* const moved = realloc(*block, RandomSize());
    const int64_t new_bytes = UsableBytes(moved);
    if (moved == *block) {
      const int64_t growth_bytes = new_bytes - old_bytes;
      Count(number, growth_bytes, 0, std::max<int64_t>(0, growth_bytes));
    } else {
      Count(number, new_bytes, old_bytes, new_bytes);
    }
    *block = moved;
  }

  void Free(int number, void** block) {
    const int64_t bytes = UsableBytes(*block);
    free(*block);
    *block = nullptr;
    for (PhaseTruth& phase : phases_) phase.Change(number, -bytes);
  }

  void Count(int number, int64_t gained_bytes, int64_t then_freed_bytes,
             int64_t allocated_bytes) {
    for (PhaseTruth& phase : phases_) {
      phase.Change(number, gained_bytes);
      phase.Change(number, -then_freed_bytes);
      phase.allocated_bytes += allocated_bytes;
      ++phase.allocation_count;
    }
  }

  void OpenReadOrClose(PhaseTruth* phase) {
    if (!phase->is_open) {
      *phase = PhaseTruth();
      phase->phase = BeginHeapPhase();
      phase->is_open = true;
    } else if (random_() % 2 == 0) {
      findings_.push_back({*phase, ReadHeapPhase(phase->phase)});
    } else {
      Close(phase);
    }
  }

  void Close(PhaseTruth* phase) {
    findings_.push_back({*phase, EndHeapPhase(phase->phase)});
    phase->is_open = false;
  }

  std::mt19937 random_;
  const int thread_count_;
  std::array<Worker, kMaxThreads> workers_;
  std::array<bool, kMaxThreads> has_ended_ = {};
  std::array<void*, kSlotCount> slots_ = {};
  std::array<PhaseTruth, kPhaseCount> phases_;
  std::vector<Finding> findings_;
  sem_t done_;
  Action action_ = Action::kAllocate;
};

void ExpectEqual(const Finding& finding) {
  const PhaseTruth& truth = finding.truth;
  const HeapPhaseBytes& bytes = finding.bytes;
  int64_t sum_thread_peak_net_bytes = 0;
  int active_thread_count = 0;
  for (size_t i = 0; i < kMaxThreads; ++i) {
    sum_thread_peak_net_bytes += truth.thread_peak_net_bytes[i];
    active_thread_count += truth.is_active[i] ? 1 : 0;
  }
  EXPECT_EQ(bytes.peak_live_net_bytes, truth.peak_net_bytes);
  EXPECT_EQ(bytes.net_growth_bytes, truth.live_bytes);
  EXPECT_EQ(bytes.sum_thread_peak_net_bytes, sum_thread_peak_net_bytes);
  EXPECT_EQ(bytes.allocated_bytes, truth.allocated_bytes);
  EXPECT_EQ(bytes.allocation_count, truth.allocation_count);
  EXPECT_EQ(bytes.active_thread_count, active_thread_count);
}

TEST(HeapCountersTest, EqualsSumsKeptByHand) {
  size_t finding_count = 0;
  const uint32_t seed_count = PropertySeedCount();
  for (uint32_t seed = 1; seed <= seed_count; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Trial trial(seed, static_cast<int>(seed % kMaxThreads) + 1);
    for (const Finding& finding : trial.Run()) {
      ExpectEqual(finding);
      ++finding_count;
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(finding_count, 10 * seed_count);
}

}  // namespace
}  // namespace footprint::profiling_internal
