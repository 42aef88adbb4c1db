#include "footprint/profiling/outside/whole_process_watch.h"

#include <dirent.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/profiling/resident/kernel_file.h"

namespace footprint {
namespace {

// Of one address space, in bytes.
struct ResidentCounts {
  int64_t mark = 0;  // the kernel's high-water mark
  int64_t anonymous = 0;
  int64_t file = 0;
  int64_t shared = 0;

  int64_t Sum() const { return anonymous + file + shared; }
};

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

void AppendChildren(int process_id, std::vector<int>* children) {
  const std::string tasks_path = absl::StrCat("/proc/", process_id, "/task");
  DIR* const tasks = opendir(tasks_path.c_str());
  if (tasks == nullptr) return;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    const absl::StatusOr<std::string> numbers = ReadKernelFile(
        absl::StrCat(tasks_path, "/", entry->d_name, "/children"));
    if (!numbers.ok()) continue;
    for (absl::string_view number :
         absl::StrSplit(*numbers, ' ', absl::SkipEmpty())) {
      int child = 0;
      if (absl::SimpleAtoi(number, &child)) children->push_back(child);
    }
  }
  closedir(tasks);
}

std::set<int> DescendantsOf(int ancestor_id) {
  std::vector<int> unlooked;
  AppendChildren(ancestor_id, &unlooked);
  std::set<int> descendants;
  while (!unlooked.empty()) {
    const int process_id = unlooked.back();
    unlooked.pop_back();
    if (!descendants.insert(process_id).second) continue;
    AppendChildren(process_id, &unlooked);
  }
  return descendants;
}

// Where the kernel does not tell, they count as two.
bool ShareAddressSpace(int a, int b) {
  return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

std::string ExecutableOf(int process_id) {
  char path[4096];
  const ssize_t size = readlink(
      absl::StrCat("/proc/", process_id, "/exe").c_str(), path, sizeof(path));
  return size < 0 ? "" : std::string(path, static_cast<size_t>(size));
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

// What `counts` holds together, each page once.
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
    int64_t& most = file_bytes[ExecutableOf(process_id)];
    most = std::max(most, shares.file);
  }
  for (const auto& [ignored, bytes] : file_bytes) sum.file += bytes;
  return sum;
}

}  // namespace

void WholeProcessWatch::Look() {
  std::map<int, ResidentCounts> counts;
  int64_t sum_bytes = 0;
  int64_t mark_bytes = 0;
  for (int process_id : DescendantsOf(ancestor_id_)) {
    const ResidentCounts of_process = CountsOf(process_id);
    seen_.insert(process_id);
    if (of_process.mark == 0) continue;  // it has ended
    counts[process_id] = of_process;
    sum_bytes += of_process.Sum();
    mark_bytes = std::max(mark_bytes, of_process.mark);
  }
  const int64_t segment_bytes = UnattachedSegmentBytes(seen_);
  if (sum_bytes + segment_bytes > peak_.resident_bytes) {
    const ResidentCounts now =
        counts.size() == 1 ? counts.begin()->second : SharedOnce(counts);
    const int64_t now_bytes = now.Sum() + segment_bytes;
    if (now_bytes > peak_.resident_bytes) {
      peak_ = {now_bytes, now.anonymous, now.file, now.shared + segment_bytes,
               static_cast<int>(counts.size())};
    }
  }
  NoteEnded(mark_bytes);
}

void WholeProcessWatch::NoteEnded(int64_t peak_resident_bytes) {
  peak_.resident_bytes = std::max(peak_.resident_bytes, peak_resident_bytes);
}

}  // namespace footprint
