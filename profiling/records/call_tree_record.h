// A tree of calls, as an agent keeps it in a file that it maps. It is the
// common part of all records that say where something happened.
//
//   const uint32_t count = file->tree.node_count.load();
//   for (uint32_t i = 1; i < count; ++i) Use(file->tree.nodes[i]);
//
// The arrays are sparse: the agent reserves space on the disk before an array
// grows into it. One process writes the file, and others read it at any time.
// An entry is valid as soon as its array's count includes it.
//
// Plain memory without pointers or a destructor. It lives as long as the writer
// has the file mapped, and the file outlives the process. The recorder's lock
// (call_tree_writer.h) orders the writer's threads.

#ifndef FOOTPRINT_PROFILING_RECORDS_CALL_TREE_RECORD_H_
#define FOOTPRINT_PROFILING_RECORDS_CALL_TREE_RECORD_H_

#include <atomic>
#include <cstdint>

namespace footprint::profiling_internal {

// A call: its return address, and the call around it.
struct CallNode {
  uint64_t program_counter;
  uint32_t parent;  // 0 for an outermost call.
  // The index of the object that contained the code then, or kNoModule.
  uint32_t module;
};
inline constexpr uint32_t kNoModule = ~uint32_t{0};
// In this module, the program counter names a call of an interpreter's code
// (python_record.h).
inline constexpr uint32_t kInterpretedModule = ~uint32_t{1};
inline constexpr uint64_t kInterpretedCall = uint64_t{1} << 63;
// The node above the outermost calls, which is not a call.
inline constexpr uint32_t kRootNode = 0;

// A shared object, or the program, as it was loaded.
struct ModuleRecord {
  uint64_t begin_address;
  uint64_t end_address;
  // The number that the loader added to the file's own addresses.
  uint64_t load_bias;
  uint32_t build_id_size;
  uint8_t build_id[36];
  char path[448];
};

inline constexpr uint32_t kMaxModules = 4096;
inline constexpr uint32_t kMaxCallNodes = uint32_t{1} << 22;

struct CallTreeRecord {
  std::atomic<uint32_t> module_count;
  std::atomic<uint32_t> node_count;
  // Not zero if an array or the disk was full, so some calls are missing.
  std::atomic<uint32_t> is_full;
  alignas(4096) ModuleRecord modules[kMaxModules];
  alignas(4096) CallNode nodes[kMaxCallNodes];
};

}  // namespace footprint::profiling_internal

// Tested by call_tree_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_CALL_TREE_RECORD_H_
