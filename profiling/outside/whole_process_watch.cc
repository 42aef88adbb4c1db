#include "footprint/profiling/outside/whole_process_watch.h"

#include <dirent.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/machine/child_processes.h"
#include "footprint/base/machine/kernel_file.h"
#include "footprint/profiling/resident/resident_set.h"

namespace footprint {
namespace {

using profiling_internal::ResidentCounts;

// No path of a mapping begins so.
constexpr char kNoAgentFolder[] = "no agent";

// "RssAnon:\t    1234 kB" of a text like /proc/PID/status; 0 without it.
int64_t BytesOf(absl::string_view text, absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, name)) continue;
    if (!absl::ConsumePrefix(&line, ":")) continue;
    line = absl::StripSuffix(line, " kB");
    int64_t kibibytes = 0;
    return absl::SimpleAtoi(absl::StripAsciiWhitespace(line), &kibibytes)
               ? kibibytes * 1024
               : 0;
  }
  return 0;
}

std::string ProcessFile(int process_id, absl::string_view name) {
  const absl::StatusOr<std::string> text =
      ReadKernelFile(absl::StrCat("/proc/", process_id, "/", name));
  return text.ok() ? *text : "";
}

ResidentCounts CountsOf(int process_id) {
  const std::string status = ProcessFile(process_id, "status");
  ResidentCounts counts;
  counts.mark = BytesOf(status, "VmHWM");
  counts.anonymous = BytesOf(status, "RssAnon");
  counts.file = BytesOf(status, "RssFile");
  counts.shared = BytesOf(status, "RssShmem");
  return counts;
}

// With this process's share of pages that it has in common with others; nothing
// of one that has ended since, whose address space another one may have.
ResidentCounts SharesOf(int process_id, const ResidentCounts& counts) {
  const std::string rollup = ProcessFile(process_id, "smaps_rollup");
  ResidentCounts shares = counts;
  if (rollup.empty()) {
    return CountsOf(process_id).mark == 0 ? ResidentCounts() : shares;
  }
  shares.anonymous = BytesOf(rollup, "Pss_Anon");
  shares.shared = BytesOf(rollup, "Pss_Shmem");
  return shares;
}

std::set<int> DescendantsOf(int ancestor_id) {
  std::vector<int> unlooked;
  AppendChildProcesses(ancestor_id, &unlooked);
  std::set<int> descendants;
  while (!unlooked.empty()) {
    const int process_id = unlooked.back();
    unlooked.pop_back();
    if (!descendants.insert(process_id).second) continue;
    AppendChildProcesses(process_id, &unlooked);
  }
  return descendants;
}

// Where the kernel does not tell, they count as two.
bool ShareAddressSpace(int a, int b) {
  return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

std::string LinkOf(const std::string& path) {
  char target[4096];
  const ssize_t size = readlink(path.c_str(), target, sizeof(target));
  return size < 0 ? "" : std::string(target, static_cast<size_t>(size));
}

// Segments that nobody has attached, of `creators`. A line of proc(5)'s
// /proc/sysvipc/shm is: key, id, mode, size, creator, last, attached, 4
// numbers of owners, 3 times, resident bytes, swapped ones.
int64_t UnattachedSegmentBytes(const std::set<int>& creators) {
  constexpr size_t kCreator = 4;
  constexpr size_t kAttached = 6;
  constexpr size_t kResident = 14;
  const absl::StatusOr<std::string> list = ReadKernelFile("/proc/sysvipc/shm");
  if (!list.ok()) return 0;
  int64_t sum = 0;
  for (absl::string_view line : absl::StrSplit(*list, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    int creator = 0;
    int64_t bytes = 0;
    if (words.size() > kResident && words[kAttached] == "0" &&
        absl::SimpleAtoi(words[kCreator], &creator) &&
        creators.count(creator) > 0 &&
        absl::SimpleAtoi(words[kResident], &bytes)) {
      sum += bytes;
    }
  }
  return sum;
}

// Whether a line of /proc/PID/maps is of the file.
bool IsMapped(absl::string_view mappings, ino_t inode, absl::string_view name) {
  const std::string number = absl::StrCat(" ", inode, " ");
  for (absl::string_view line : absl::StrSplit(mappings, '\n')) {
    if (absl::EndsWith(line, name) && absl::StrContains(line, number)) {
      return true;
    }
  }
  return false;
}

// Files in memory that are open, and that none of `process_ids` maps.
int64_t UnmappedFileBytes(const std::set<int>& process_ids) {
  std::map<ino_t, int64_t> bytes;
  for (int process_id : process_ids) {
    const std::string folder = absl::StrCat("/proc/", process_id, "/fd");
    DIR* const files = opendir(folder.c_str());
    if (files == nullptr) continue;
    while (const dirent* entry = readdir(files)) {
      const std::string path = absl::StrCat(folder, "/", entry->d_name);
      const std::string name = LinkOf(path);
      struct stat facts;
      if ((!absl::StartsWith(name, "/memfd:") &&
           !absl::StartsWith(name, "/dev/shm/")) ||
          stat(path.c_str(), &facts) != 0) {
        continue;
      }
      int64_t& of_file =
          bytes.try_emplace(facts.st_ino, int64_t{facts.st_blocks} * 512)
              .first->second;
      if (IsMapped(ProcessFile(process_id, "maps"), facts.st_ino, name)) {
        of_file = 0;
      }
    }
    closedir(files);
  }
  int64_t sum = 0;
  for (const auto& [ignored, of_file] : bytes) sum += of_file;
  return sum;
}

// The pages of all `counts` together, each page once.
ResidentCounts SharedOnce(const std::map<int, ResidentCounts>& counts) {
  std::vector<int> distinct;
  for (const auto& [process_id, ignored] : counts) {
    const int process = process_id;
    if (std::none_of(distinct.begin(), distinct.end(), [process](int other) {
          return ShareAddressSpace(process, other);
        })) {
      distinct.push_back(process);
    }
  }
  ResidentCounts sum;
  std::map<std::string, int64_t> file_bytes;  // by executable
  for (int process_id : distinct) {
    const ResidentCounts shares = SharesOf(process_id, counts.at(process_id));
    // An address space that two have is mapped once all the same.
    sum.anonymous += shares.anonymous;
    sum.shared += shares.shared;
    int64_t& most =
        file_bytes[LinkOf(absl::StrCat("/proc/", process_id, "/exe"))];
    most = std::max(most, shares.file);
  }
  for (const auto& [ignored, bytes] : file_bytes) sum.file += bytes;
  return sum;
}

}  // namespace

void WholeProcessWatch::Look() {
  CountsOfProcesses counts;
  int64_t mark_bytes = 0;
  const std::set<int> alive = DescendantsOf(ancestor_id_);
  for (int process_id : alive) {
    const ResidentCounts of_process = CountsOf(process_id);
    seen_.insert(process_id);
    if (of_process.mark == 0) continue;  // it has ended
    counts[process_id] = of_process;
    mark_bytes = std::max(mark_bytes, of_process.mark);
  }
  NoteSum(counts, UnattachedSegmentBytes(seen_) + UnmappedFileBytes(alive));
  NoteEnded(mark_bytes);
}

void WholeProcessWatch::NoteSum(const CountsOfProcesses& counts,
                                int64_t unmapped_bytes) {
  int64_t at_most_bytes = unmapped_bytes;
  for (const auto& [ignored, of_process] : counts) {
    at_most_bytes += of_process.Sum();
  }
  // Higher than any look before, whatever a mark has told since.
  if (at_most_bytes <= parts_sum_bytes_) return;
  const ResidentCounts now =
      counts.size() == 1 ? counts.begin()->second : SharedOnce(counts);
  const int64_t now_bytes = now.Sum() + unmapped_bytes;
  if (now_bytes > peak_.resident_bytes) {
    peak_.resident_bytes = now_bytes;
    peak_.anonymous_bytes = now.anonymous;
    peak_.file_bytes = now.file;
    peak_.shared_bytes = now.shared + unmapped_bytes;
    peak_.process_count = static_cast<int>(counts.size());
  }
  // While it grows, at each fiftieth; where it stays, to the last page.
  const bool stays = now_bytes - last_sum_bytes_ < now_bytes / 2000;
  last_sum_bytes_ = now_bytes;
  if (now_bytes > parts_sum_bytes_ + (stays ? 0 : parts_sum_bytes_ / 50)) {
    ReadParts(counts, unmapped_bytes, now_bytes);
  }
}

void WholeProcessWatch::ReadParts(const CountsOfProcesses& counts,
                                  int64_t unmapped_bytes, int64_t sum_bytes) {
  if (counts.empty()) return;
  const auto largest = std::max_element(
      counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second.Sum() < b.second.Sum();
      });
  const absl::StatusOr<ResidentSet> set =
      ReadResidentSet(largest->first, {}, kNoAgentFolder);
  if (!set.ok()) return;
  WholeProcessParts parts;
  parts.heap_and_mapping_bytes = set->heap_bytes + set->mapped_bytes;
  parts.stack_bytes = set->stack_bytes;
  parts.image_bytes = set->image_bytes;
  parts.file_bytes = set->file_bytes;
  parts.shared_bytes = set->shared_bytes + unmapped_bytes;
  parts.other_bytes = set->other_bytes;
  parts.other_process_bytes =
      std::max<int64_t>(sum_bytes - unmapped_bytes - largest->second.Sum(), 0);
  peak_.parts = parts;
  parts_sum_bytes_ = sum_bytes;
}

void WholeProcessWatch::NoteEnded(int64_t peak_resident_bytes) {
  peak_.resident_bytes = std::max(peak_.resident_bytes, peak_resident_bytes);
}

}  // namespace footprint
