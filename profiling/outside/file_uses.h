// Counts pages of files that several processes map or have open, each once, by
// device and inode. The kernel's own counts of a process include a page as
// often as it is mapped, and leave out unmapped pages of files in memory.
//
//   FileUses uses(address_spaces, processes, creators, begin);
//   const FilePages pages = uses.CountPages();
//   // RssFile of all `address_spaces` less pages.repeated_file_bytes
//
// A file in memory (memfd, shared memory, tmpfs, hugetlbfs) counts as a whole
// if it no longer has a name, or was made or written since `begin`. Of an older
// file, only the mapped pages count. Open files are those of every thread that
// has its own descriptor table. A System V segment counts as a whole if one of
// `creators` made it or one of `address_spaces` has attached it.
//
// If /proc/PID/map_files may not be followed (root may), shared memory that is
// mapped but not open counts by its mapped pages only. If the mappings of a
// file span more than 64 GiB of it, its pages count as often as they are
// mapped.
//
// Owns a list of files and keeps no reference; some hundred bytes a mapping.
// Thread-compatible. Time: some 100 us a process, and 10 us a MiB that is
// mapped more than once. Errors: a file that may not be read does not count.
// Source: proc(5), kcmp(2).

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
  // Bytes that RssFile and RssShmem of the processes count beyond the first
  // time.
  int64_t repeated_file_bytes = 0;
  int64_t repeated_shared_bytes = 0;
  int64_t unmapped_bytes = 0;  // In files in memory.
  int64_t whole_bytes = 0;     // In files in memory, mapped or not.
  // Whether the sizes of all mapped files in memory are known.
  bool is_whole_known = true;
  int64_t huge_bytes = 0;  // In hugetlbfs, mapped or not.
};

class FileUses {
 public:
  FileUses(const std::vector<int>& address_spaces,
           const std::set<int>& processes, const std::set<int>& creators,
           const timespec& begin);

  // Returns an upper bound of `unmapped_bytes` and `huge_bytes` together.
  int64_t MostWholeBytes() const;
  // Returns the counts of pages.
  FilePages CountPages() const;

 private:
  struct Mapping {
    int process_id = 0;
    uint64_t address = 0;
    uint64_t offset = 0;  // The offset in the file.
    uint64_t size = 0;
  };
  struct Use {
    std::vector<Mapping> mappings;
    int64_t whole_bytes = -1;  // If negative, only the mapped pages count.
    bool is_in_memory = false;
    bool is_huge = false;
    int64_t private_huge_bytes = 0;
    int64_t shared_huge_bytes = 0;
  };
  using Key = std::pair<uint64_t, uint64_t>;  // The device and the inode.
  enum class FileSystem { kOther, kMemory, kHuge };

  void AddMappings(int process_id);
  void AddMapping(int process_id, absl::string_view line);
  void AddHugeMappings(int process_id);
  void AddDescriptors(int process_id);
  void AddDescriptorsOfTask(const std::string& folder);
  void AddSegments(const std::set<int>& creators);
  // Finds or adds the file to which a link of /proc leads. Returns null if it
  // is not in memory.
  Use* NoteFile(const std::string& link);
  FileSystem FindFileSystem(const std::string& link, uint64_t device);
  static bool HasRepetition(const Use& use);
  static void CountUse(const Use& use, FilePages* pages);

  const timespec begin_;
  std::map<Key, Use> uses_;
  std::map<uint64_t, FileSystem> file_systems_;  // Indexed by device.
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_OUTSIDE_FILE_USES_H_
