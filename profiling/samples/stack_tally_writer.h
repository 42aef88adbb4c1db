// Adds samples up by stack of calls, thread and stage, in a file that the
// process maps (stack_tallies_record.h), without a lock: also from a signal
// handler that interrupted any code, this one included.
//
//   StackTallyWriter copies;
//   copies.Begin(folder, "1234.0.copies", /*sampling_interval=*/4194304);
//   ...
//   copies.Add(calls, call_count, {.amounts = {bytes, 1}, .variance = 0});
//
// Entries are found by hash, in chains to which new ones are pushed in front
// by compare-and-swap; nothing is ever taken out. Two threads that find the
// same new stack at once may leave an entry that nothing refers to.
//
// Owns the file's mapping until Close, or leaves it to the process; the calls
// that are added are only read. Begin and Close are for one thread, while no
// other adds. Everything else is thread-safe and works in signal handlers: no
// allocation, no lock, system calls only to take space from the disk. Memory:
// 20 bytes a call and 48 a tally in the file, and its head of 96 KiB. Source of
// the lists: T. L. Harris, A Pragmatic Implementation of Non-Blocking
// Linked-Lists (2001), without deletion.

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

  // Returns false if the file cannot be had, and nothing is added. `folder` is
  // a descriptor.
  bool Begin(int folder, const char* file_name, int64_t sampling_interval);
  void Close();

  bool is_open() const { return tallies() != nullptr; }

  // `calls` innermost first; none: the stack is not known. For the calling
  // thread, in the stage that the process is in.
  void Add(const uintptr_t* calls, int count, const TallyAddition& addition);

  void AddMissedThread();

  // Called after an object was unloaded: another may lie at its addresses next,
  // so that their calls are other ones.
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
