// Reads the parts of a process's resident set. Each mapping that the kernel
// lists belongs to one of them. Anonymous memory is the heap's unless it is a
// stack, an object's data, mapped by the program itself, or the agent's.
//
//   absl::StatusOr<ResidentSet> parts =
//       ReadResidentSet(process_id, ranges, "/tmp/memprof-1");
//   // parts->heap_bytes + ... + parts->unexplained_bytes == resident_bytes
//
// The process runs on meanwhile. If its pages change by more than a fiftieth
// between the reading of one list and the next, both are read again, at most
// three times in all. If they still change, the resident set is that of the
// last list of mappings, so that all parts are from one moment. Smaller
// differences are `unexplained_bytes`, of either sign.
//
// Keeps nothing; the result owns its paths. Thread-safe. Memory: the list of
// mappings, some hundred bytes each. Time: some milliseconds a GiB. Errors:
// kNotFound for a process that has ended, kPermissionDenied for another user's.
//
// Source: proc(5), /proc/PID/smaps and /proc/PID/pagemap.

#ifndef FOOTPRINT_PROFILING_RESIDENT_RESIDENT_SET_H_
#define FOOTPRINT_PROFILING_RESIDENT_RESIDENT_SET_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

// A range of whole pages.
struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The ranges that the agent of a measured process published. Ranges of one kind
// do not overlap.
struct KnownRanges {
  // The ranges that the program itself has mapped.
  std::vector<AddressRange> mapped;
  // The agent's own tables, which are not the program's memory.
  std::vector<AddressRange> agent;
};

// The resident pages of one file in one process.
struct ResidentFile {
  int64_t bytes = 0;
  std::string device;  // of its file system, as the kernel writes it ("fe:00")
  // The part that the kernel cannot drop and read again, or had better not: all
  // pages of a file with code and of a locked mapping (mlock), else those that
  // the process may have written by its mapping and that are not on the disk.
  int64_t held_bytes = 0;
};

struct ResidentSet {
  int64_t resident_bytes = 0;
  // Pages that belong to no file and not to the agent. A page that several
  // processes share counts with this process's share.
  int64_t anonymous_bytes = 0;
  // The pages of files except the agent's, by path; processes may share them.
  std::map<std::string, ResidentFile> files;
  // The bytes of mapped files except the agent's, by the file system's device
  // as the kernel writes it ("00:19"). A shared page counts with this process's
  // share.
  std::map<std::string, int64_t> device_bytes;
  // True if a file of the agent's folder is mapped, so the agent is in the
  // process.
  bool has_agent = false;

  int64_t heap_bytes = 0;  // All other anonymous memory: the allocator's.
  // Anonymous memory that the program mapped by itself.
  int64_t mapped_bytes = 0;
  int64_t stack_bytes = 0;
  int64_t image_bytes = 0;   // The program and its libraries, with their data.
  int64_t file_bytes = 0;    // Other mapped files.
  int64_t shared_bytes = 0;  // Memory shared with other processes.
  int64_t agent_bytes = 0;   // The agent and its records.
  int64_t other_bytes = 0;
  int64_t unexplained_bytes = 0;

  int64_t swapped_bytes = 0;
  int64_t page_table_bytes = 0;
  int64_t minor_fault_count = 0;
  int64_t major_fault_count = 0;

  int64_t explained_bytes() const {
    return heap_bytes + mapped_bytes + stack_bytes + image_bytes + file_bytes +
           shared_bytes + agent_bytes + other_bytes;
  }
  // Returns the bytes without those that measuring needs.
  int64_t program_bytes() const { return explained_bytes() - agent_bytes; }
};

// Reads the process. Files below `agent_folder`, which has no slash at its end,
// are the agent's.
absl::StatusOr<ResidentSet> ReadResidentSet(int process_id,
                                            const KnownRanges& ranges,
                                            const std::string& agent_folder);

// Classifies a text like /proc/PID/smaps, for tests. `resident_in` returns how
// many bytes of a range are resident.
ResidentSet ClassifyMappings(
    absl::string_view mappings, const KnownRanges& ranges,
    const std::string& agent_folder,
    absl::FunctionRef<int64_t(AddressRange)> resident_in);

// Parses the page faults in a text like /proc/PID/stat, for tests. If it has
// none, the counts stay as they are.
void ParseFaults(absl::string_view stat, ResidentSet* parts);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_RESIDENT_SET_H_
