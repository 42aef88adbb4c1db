// Adds up samples by stack of calls, thread and stage, in a file that the
// process maps (stack_tallies_record.h). It takes no lock, so a signal handler
// may use it even if it interrupted this code.
//
//   StackTallyWriter copies;
//   copies.Begin(folder, "1234.0.copies", /*sampling_interval=*/4194304);
//   ...
//   copies.Add(calls, call_count, {.amounts = {bytes, 1}, .variance = 0});
//
// Entries are found by hash in linked lists. A new entry is put at the front of
// its list by compare-and-swap. The file never loses an entry. Two threads that
// find the same new stack at once may leave an unused entry.
//
// Owns the file's mapping until Close; without Close the mapping stays until
// the process ends. The calls in arguments are only read. Only one thread may
// call Begin and Close, while no other thread adds. Everything else is
// thread-safe and works in signal handlers:
// no allocation and no lock; it makes system calls only to reserve space on the
// disk. Memory: 20 bytes a call and 48 a tally in the file, and its head of 96
// KiB. Source of the lists: T. L. Harris, A Pragmatic Implementation of
// Non-Blocking Linked-Lists (2001), without deletion.

#ifndef FOOTPRINT_PROFILING_SAMPLES_STACK_TALLY_WRITER_H_
#define FOOTPRINT_PROFILING_SAMPLES_STACK_TALLY_WRITER_H_

#include <cstdint>

#include "footprint/profiling/records/stack_tallies_record.h"
#include "footprint/profiling/sites/growing_file.h"

namespace footprint::profiling_internal {

struct TallyAddition {
  int64_t sample_count = 1;
  int64_t amounts[kTallyAmounts] = {};
  // The variance of the first amount.
  double variance = 0;
};

class StackTallyWriter {
 public:
  constexpr StackTallyWriter() = default;
  StackTallyWriter(const StackTallyWriter&) = delete;
  StackTallyWriter& operator=(const StackTallyWriter&) = delete;

  // Returns false if the file cannot be created; then nothing is added.
  // `folder` is a descriptor.
  bool Begin(int folder, const char* file_name, int64_t sampling_interval);
  void Close();

  bool is_open() const { return tallies() != nullptr; }

  // Adds a sample of the calling thread, in the process's current stage.
  // `calls` begins with the innermost; with no calls, the stack is unknown. If
  // the file is full, a new stack is cut to its outer calls, and the sample is
  // dropped if there is no tally for these.
  void Add(const uintptr_t* calls, int count, const TallyAddition& addition);

  // Counts a thread that cannot be sampled.
  void AddMissedThread();

  // Forgets which code lies at which address. Call it after an object was
  // unloaded, because another may be loaded at its addresses.
  void ForgetCode();

 private:
  bool Open(int folder, const char* file_name, int64_t sampling_interval);
  StackTalliesFile* tallies() const {
    return __atomic_load_n(&tallies_, __ATOMIC_ACQUIRE);
  }
  uint32_t FindNode(StackTalliesFile* file, uint32_t parent,
                    uintptr_t program_counter);
  uint32_t FindModule(StackTalliesFile* file, uintptr_t program_counter);
  // Returns null if there is no room.
  StackTally* FindTally(StackTalliesFile* file, uint32_t node, uint32_t thread,
                        uint32_t stage);

  GrowingFile file_;
  StackTalliesFile* tallies_ = nullptr;
  GrowingArray nodes_;
  GrowingArray next_nodes_;
  GrowingArray modules_;
  GrowingArray tally_array_;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SAMPLES_STACK_TALLY_WRITER_H_
