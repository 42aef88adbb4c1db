// Tests through LazyLoading which modules the loader has in memory, and when.

#include "footprint/lowmem/modules/module_loader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/refuse_system_call.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/modules/lazy_loading.h"
#include "footprint/lowmem/modules/module.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

// These count memory that begins at a cache line, as that of parameters does.
std::atomic<int64_t> aligned_bytes{0};
std::atomic<int64_t> aligned_peak_bytes{0};

}  // namespace

void* operator new(size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<size_t>(alignment);
  void* const memory =
      std::aligned_alloc(unit, std::max(unit, (size + unit - 1) / unit * unit));
  if (memory == nullptr) std::abort();
  const int64_t now = aligned_bytes += static_cast<int64_t>(size);
  int64_t peak = aligned_peak_bytes;
  while (peak < now && !aligned_peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return memory;
}
void operator delete(void* memory, size_t size, std::align_val_t) noexcept {
  aligned_bytes -= static_cast<int64_t>(size);
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}

namespace footprint {
namespace {

std::string Write(const RandomTensors& tensors, const std::string& name) {
  return WriteCheckpoint("{}", tensors.tensors(), DType::kF32, name,
                         /*block_columns=*/0) +
         "/model.safetensors";
}

// A random tree of modules with leases that overlap at random.
class RandomNode : public Module {
 public:
  RandomNode(const std::string& name, int depth, std::mt19937& random,
             RandomTensors* tensors)
      : Module("RandomNode"), holds_(random() % 2 == 0) {
    const int64_t parameters = random() % 3;
    for (int64_t i = 0; i < parameters; ++i) {
      const auto count = static_cast<int64_t>(1 + random() % 500);
      const std::string own = absl::StrCat("p", i);
      tensors->Vector(name.empty() ? own : name + "." + own, count);
      own_bytes_ += (count * 4 + 63) / 64 * 64;
      mine_.push_back(AddParameter(own, {count}));
    }
    const int64_t children = depth == 0 ? 0 : random() % 4;
    for (int64_t i = 0; i < children; ++i) {
      const std::string child = absl::StrCat("c", i);
      children_.push_back(std::make_unique<RandomNode>(
          name.empty() ? child : name + "." + child, depth - 1, random,
          tensors));
      AddChild(child, children_.back().get());
    }
  }

  // Leases itself, and its children either during that lease or after it. Adds
  // up all numbers.
  absl::Status Run(double* sum) {
    absl::StatusOr<ModuleLease> lease = Lease();
    if (!lease.ok()) return lease.status();
    for (const Parameter* parameter : mine_) {
      for (int64_t i = 0; i < parameter->count(); ++i) {
        *sum += parameter->data()[i];
      }
    }
    if (!holds_) lease = absl::CancelledError("no longer needed");
    for (const auto& child : children_) {
      const absl::Status status = child->Run(sum);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Returns the most bytes that are leased at one moment of Run.
  int64_t LargestSet() const {
    int64_t largest = own_bytes_;
    for (const auto& child : children_) {
      largest =
          std::max(largest, child->LargestSet() + (holds_ ? own_bytes_ : 0));
    }
    return largest;
  }
  int64_t LargestModule() const {
    int64_t largest = own_bytes_;
    for (const auto& child : children_) {
      largest = std::max(largest, child->LargestModule());
    }
    return largest;
  }

 private:
  const bool holds_;
  int64_t own_bytes_ = 0;
  std::vector<const Parameter*> mine_;
  std::vector<std::unique_ptr<RandomNode>> children_;
};

TEST(ModuleLoaderTest, HoldsTheLargestSetThatIsLeasedAtOnce) {
  for (int seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    RandomTensors tensors(DType::kF32, seed);
    RandomNode root("", 3, random, &tensors);
    tensors.Vector("other", 1);
    const std::string file = Write(tensors, "largest");
    double expected = 0;
    for (const auto& [name, tensor] : tensors.tensors()) {
      if (name == "other") continue;
      for (const float value : tensor.values) expected += value;
    }
    LazyLoadingOptions options;
    options.storage =
        seed % 2 == 0 ? WeightBackend::kPread : WeightBackend::kDirect;
    options.prefetch_bytes = seed % 3 == 0 ? random() % 5000 : 0;
    const int64_t before = aligned_bytes;
    aligned_peak_bytes = before;
    {
      const auto loaded = LazyLoading(&root, file, options);
      ASSERT_THAT(loaded, IsOk());
      for (int repeat = 0; repeat < 3; ++repeat) {
        double sum = 0;
        const absl::Status status = root.Run(&sum);
        ASSERT_THAT(status, IsOk());
        EXPECT_NEAR(sum, expected, 1e-6);
      }
      if (options.prefetch_bytes == 0) {
        EXPECT_EQ((*loaded)->held_bytes(), 0);
        EXPECT_EQ((*loaded)->peak_bytes(), root.LargestSet()) << seed;
      }
      EXPECT_LE((*loaded)->peak_bytes(),
                root.LargestSet() + options.prefetch_bytes);
      EXPECT_EQ(aligned_peak_bytes - before, (*loaded)->peak_bytes());
    }
    EXPECT_EQ(aligned_bytes, before);
  }
}

// A chain of modules of 640 bytes each.
class Chain : public Module {
 public:
  explicit Chain(int count) : Module("Chain") {
    for (int i = 0; i < count; ++i) {
      links_.push_back(std::make_unique<Link>());
      AddChild(absl::StrCat("link", i), links_.back().get());
    }
  }
  absl::StatusOr<ModuleLease> Take(int i) { return links_[i]->Take(); }

 private:
  class Link : public Module {
   public:
    Link() : Module("Link") { AddParameter("p", {160}); }
    absl::StatusOr<ModuleLease> Take() { return Lease(); }
  };
  std::vector<std::unique_ptr<Link>> links_;
};

constexpr int64_t kLinkBytes = 640;

std::string ChainFile(int count, const std::string& name) {
  RandomTensors tensors(DType::kF32, 5);
  for (int i = 0; i < count; ++i) {
    tensors.Vector(absl::StrCat("link", i, ".p"), 160);
  }
  return Write(tensors, name);
}

// Waits until reading ahead rests at `bytes`, and checks that it stays there.
void ExpectHeld(const LazyModel& model, int64_t bytes) {
  for (int i = 0; i < 2000 && model.held_bytes() != bytes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(model.held_bytes(), bytes);
}

TEST(ModuleLoaderTest, ReadsAheadUntilItsBytesAreFull) {
  const std::string file = ChainFile(6, "ahead");
  for (const WeightBackend storage :
       {WeightBackend::kPread, WeightBackend::kDirect}) {
    Chain chain(6);
    LazyLoadingOptions options;
    options.storage = storage;
    options.prefetch_bytes = 2 * kLinkBytes + 100;
    const auto loaded = LazyLoading(&chain, file, options);
    ASSERT_THAT(loaded, IsOk());
    // Before the first use, the first modules of the tree are read ahead.
    ExpectHeld(**loaded, 2 * kLinkBytes);
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 6; ++i) {
        const auto lease = chain.Take(i);
        ASSERT_THAT(lease, IsOk());
        ExpectHeld(**loaded, 3 * kLinkBytes);
      }
      ExpectHeld(**loaded, 2 * kLinkBytes);
    }
    EXPECT_EQ((*loaded)->loads(), 12);
    EXPECT_EQ((*loaded)->prefetched_loads(), 12);
    EXPECT_EQ((*loaded)->peak_bytes(), 3 * kLinkBytes);
  }
}

TEST(ModuleLoaderTest, LearnsTheOrderThatModulesAreUsedIn) {
  Chain chain(6);
  LazyLoadingOptions options;
  options.prefetch_bytes = 2 * kLinkBytes;
  const auto loaded = LazyLoading(&chain, ChainFile(6, "learns"), options);
  ASSERT_THAT(loaded, IsOk());
  const auto pass = [&] {
    for (const int i : {4, 2, 0, 2, 5}) {
      const auto lease = chain.Take(i);
      ASSERT_THAT(lease, IsOk());
      // The loader holds no more than this, and nothing that is no longer
      // expected.
      for (int wait = 0; wait < 20; ++wait) {
        EXPECT_LE((*loaded)->held_bytes(), 3 * kLinkBytes);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  };
  pass();
  pass();
  const int64_t before = (*loaded)->prefetched_loads();
  for (const int i : {4, 2, 0}) {
    ExpectHeld(**loaded, 2 * kLinkBytes);
    ASSERT_THAT(chain.Take(i), IsOk());
  }
  // The two modules after the fifth are always read ahead in time. After the
  // second, the successor varies.
  EXPECT_GE((*loaded)->prefetched_loads(), before + 2);
}

TEST(ModuleLoaderTest, GivesUpWhatTurnsOutNotToBeNext) {
  Chain chain(6);
  LazyLoadingOptions options;
  options.prefetch_bytes = 2 * kLinkBytes;
  const auto loaded = LazyLoading(&chain, ChainFile(6, "strays"), options);
  ASSERT_THAT(loaded, IsOk());
  // The first two are read ahead, but the fourth is used.
  ExpectHeld(**loaded, 2 * kLinkBytes);
  {
    const auto lease = chain.Take(3);
    ASSERT_THAT(lease, IsOk());
    ExpectHeld(**loaded, 3 * kLinkBytes);
  }
  ASSERT_THAT(chain.Take(4), IsOk());
  EXPECT_EQ((*loaded)->prefetched_loads(), 1);
}

TEST(ModuleLoaderTest, GivesUpWhatIsExpectedLaterThanItsBytesReach) {
  Chain chain(6);
  LazyLoadingOptions options;
  options.prefetch_bytes = kLinkBytes;
  const auto loaded = LazyLoading(&chain, ChainFile(6, "later"), options);
  ASSERT_THAT(loaded, IsOk());
  // From now on the second module follows the fifth, as well as the first.
  for (const int i : {4, 1, 0}) ASSERT_THAT(chain.Take(i), IsOk());
  ExpectHeld(**loaded, kLinkBytes);
  const int64_t before = (*loaded)->prefetched_loads();
  {
    // Then come the fifth and, once more, the second, which was read ahead.
    const auto lease = chain.Take(3);
    ASSERT_THAT(lease, IsOk());
    ExpectHeld(**loaded, 2 * kLinkBytes);
  }
  ASSERT_THAT(chain.Take(4), IsOk());
  EXPECT_EQ((*loaded)->prefetched_loads(), before + 1);
}

TEST(ModuleLoaderTest, DoesNotReadAheadWhatIsTooLarge) {
  Chain chain(3);
  LazyLoadingOptions options;
  options.prefetch_bytes = kLinkBytes - 1;
  const auto loaded = LazyLoading(&chain, ChainFile(3, "too_large"), options);
  ASSERT_THAT(loaded, IsOk());
  for (int i = 0; i < 3; ++i) ASSERT_THAT(chain.Take(i), IsOk());
  EXPECT_EQ((*loaded)->prefetched_loads(), 0);
  EXPECT_EQ((*loaded)->peak_bytes(), kLinkBytes);
}

TEST(ModuleLoaderTest, IsOneLoadForLeasesThatOverlap) {
  Chain chain(2);
  const auto loaded = LazyLoading(&chain, ChainFile(2, "overlap"), {});
  ASSERT_THAT(loaded, IsOk());
  auto first = chain.Take(0);
  auto second = chain.Take(0);
  EXPECT_EQ((*loaded)->loads(), 1);
  first = absl::CancelledError("ended");
  EXPECT_EQ((*loaded)->held_bytes(), kLinkBytes);
  second = absl::CancelledError("ended");
  EXPECT_EQ((*loaded)->held_bytes(), 0);
}

TEST(ModuleLoaderTest, HoldsNothingAfterAFailureAndASuccess) {
  Chain chain(1);
  const std::string file = ChainFile(1, "failure");
  const auto loaded = LazyLoading(&chain, file, {});
  ASSERT_THAT(loaded, IsOk());
  // The file looks changed, and then as before.
  struct stat status;
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  const timespec as_it_was[] = {status.st_atim, status.st_mtim};
  const timespec changed[] = {{0, 0}, {0, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), changed, 0), 0);
  EXPECT_THAT(chain.Take(0), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ((*loaded)->held_bytes(), 0);
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), as_it_was, 0), 0);
  EXPECT_THAT(chain.Take(0), IsOk());
  EXPECT_EQ((*loaded)->held_bytes(), 0);
}

void LoadWithoutThreads(const std::string& file) {
  if (!RefuseThreads()) std::_Exit(3);
  Chain chain(2);
  LazyLoadingOptions options;
  options.prefetch_bytes = kLinkBytes;
  const absl::Status status = LazyLoading(&chain, file, options).status();
  std::cerr << status << std::endl;
  std::_Exit(status.code() == absl::StatusCode::kUnavailable ? 0 : 4);
}

TEST(ModuleLoaderDeathTest, SaysSoWhereNoThreadStarts) {
  const std::string file = ChainFile(2, "threads");
  EXPECT_EXIT(LoadWithoutThreads(file), testing::ExitedWithCode(0),
              "no thread to read ahead");
}

}  // namespace
}  // namespace footprint
