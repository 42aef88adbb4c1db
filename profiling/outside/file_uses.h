// Pages of files that several processes map or have open, each counted once, by
// device and inode: the kernel's own counts of a process have a page as often
// as it is mapped, and nothing of a file in memory that is not mapped.
//
//   FileUses uses(address_spaces, processes, creators, begin);
//   const FilePages pages = uses.CountPages();
//   // RssFile of all `address_spaces` less pages.repeated_file_bytes
//
// A file in memory (memfd, shared memory, tmpfs, hugetlbfs) counts whole if it
// has no name any more, or was made or written since `begin`; of one that was
// there before, the mapped pages count alone. Files that are open are those of
// every thread that has a table of its own. A System V segment counts whole if
// one of `creators` made it or one of `address_spaces` has attached it.
//
// Shared memory that is mapped and not open counts by its mapped pages alone
// where /proc/PID/map_files may not be followed (root may).
//
// Owns a list of files and refers to nothing; some hundred bytes a mapping.
// Thread-compatible.
// Time: some 100 us a process, and 10 us a MiB that is mapped more than once.
// Errors: what may not be read counts as nothing. Source: proc(5), kcmp(2).

#ifndef FOOTPRINT_PROFILING_OUTSIDE_FILE_USES_H_
#define FOOTPRINT_PROFILING_OUTSIDE_FILE_USES_H_

#include <time.h>

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace footprint {

struct FilePages {
  // Counted in RssFile and RssShmem of the processes beyond the first time.
  int64_t repeated_file_bytes = 0;
  int64_t repeated_shared_bytes = 0;
  int64_t unmapped_bytes = 0;  // of files in memory
  int64_t whole_bytes = 0;     // of files in memory, mapped or not
  // The sizes of all files in memory that are mapped are known.
  bool is_whole_known = true;
  int64_t huge_bytes = 0;  // of hugetlbfs, mapped or not
};

class FileUses {
 public:
  FileUses(const std::vector<int>& address_spaces,
           const std::set<int>& processes, const std::set<int>& creators,
           const timespec& begin);

  // `unmapped_bytes` and `huge_bytes` together are no more.
  int64_t MostWholeBytes() const;
  FilePages CountPages() const;

 private:
  struct Mapping {
    int process_id = 0;
    uint64_t address = 0;
    uint64_t offset = 0;  // in the file
    uint64_t size = 0;
  };
  struct Use {
    std::vector<Mapping> mappings;
    int64_t whole_bytes = -1;  // below zero: mapped pages count alone
    bool is_in_memory = false;
    bool is_huge = false;
    int64_t private_huge_bytes = 0;
    int64_t shared_huge_bytes = 0;
  };
  using Key = std::pair<uint64_t, uint64_t>;  // device and inode
  enum class FileSystem { kOther, kMemory, kHuge };

  void AddMappings(int process_id);
  void AddMapping(int process_id, absl::string_view line);
  void AddHugeMappings(int process_id);
  void AddDescriptors(int process_id);
  void AddDescriptorsOfTask(const std::string& folder);
  void AddSegments(const std::set<int>& creators);
  // Notes the file to which a link of /proc leads. Returns null if it is not in
  // memory. Null: it is not in memory.
  Use* NoteFile(const std::string& link);
  FileSystem FindFileSystem(const std::string& link, uint64_t device);
  static bool HasRepetition(const Use& use);
  static void CountUse(const Use& use, FilePages* pages);

  const timespec begin_;
  std::map<Key, Use> uses_;
  std::map<uint64_t, FileSystem> file_systems_;  // by device
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_OUTSIDE_FILE_USES_H_
