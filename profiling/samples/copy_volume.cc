#include "footprint/profiling/samples/copy_volume.h"

#include <errno.h>
#include <math.h>

#include <atomic>

#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/samples/stack_tally_writer.h"
#include "footprint/profiling/sites/current_stack.h"
#include "footprint/profiling/stacks/readable_stack.h"
#include "footprint/profiling/stacks/stack_end.h"
#include "footprint/profiling/stacks/stack_unwinder.h"

namespace footprint::profiling_internal {
namespace {

constexpr int kMaxCopyCalls = 128;
// The distance before anything is recorded, and if nothing can be.
constexpr int64_t kUnrecordedBytes = 65536;

StackTallyWriter writer;
std::atomic<int64_t> interval_bytes{0};
std::atomic<uint64_t> sample_number{0};

// Returns the copies that a sampled one stands for.
TallyAddition EstimateAddition(size_t size_bytes) {
  TallyAddition addition;
  const int64_t interval = interval_bytes.load(std::memory_order_relaxed);
  const auto size = static_cast<double>(size_bytes);
  if (interval == 0 || size_bytes == 0) {
    addition.amounts[0] = static_cast<int64_t>(size_bytes);
    addition.amounts[1] = 1;
    return addition;
  }
  const double probability = -expm1(-size / static_cast<double>(interval));
  const double bytes = size / probability;
  addition.amounts[0] = static_cast<int64_t>(bytes + 0.5);
  addition.amounts[1] = static_cast<int64_t>(1 / probability + 0.5);
  addition.variance = bytes * bytes * (1 - probability);
  return addition;
}

}  // namespace

bool BeginCopyVolume(int folder, const char* file_name,
                     int64_t sampling_interval_bytes) {
  interval_bytes = sampling_interval_bytes;
  return writer.Begin(folder, file_name, sampling_interval_bytes);
}

int64_t NextCopyDistance() {
  if (!writer.is_open()) return kUnrecordedBytes;
  const int64_t interval = interval_bytes.load(std::memory_order_relaxed);
  if (interval <= 0) return 0;
  // `uniform` lies in (0, 1].
  const double uniform =
      static_cast<double>((RandomAt(1, ++sample_number) >> 11) + 1) * 0x1p-53;
  return static_cast<int64_t>(-log(uniform) * static_cast<double>(interval));
}

int64_t SampleCopy(size_t size_bytes, const void* caller) {
  if (!writer.is_open()) return kUnrecordedBytes;
  // The caller is a memcpy, which never changes it.
  const int error = errno;
  uintptr_t calls[kMaxCopyCalls];
  const StackFrame frame = CallingFrame();
  uintptr_t end = FindStackEnd(frame.stack_pointer);
  if (end == 0) end = ReadableStackEnd(frame.stack_pointer);
  uintptr_t stack_pointers[kMaxCopyCalls];
  int count = UnwindStack(frame, end, calls, kMaxCopyCalls, stack_pointers);
  // This takes no lock: the copy may be the recorder's own, made while it holds
  // its lock.
  count = AddInterpreterCalls(stack_pointers, count, calls, kMaxCopyCalls);
  int first = 0;
  while (first < count && calls[first] != reinterpret_cast<uintptr_t>(caller)) {
    ++first;
  }
  if (first == count) first = 0;
  writer.Add(calls + first, count - first, EstimateAddition(size_bytes));
  errno = error;
  return NextCopyDistance();
}

void ForgetCodeOfCopyVolume() { writer.ForgetCode(); }

}  // namespace footprint::profiling_internal
