#include "footprint/profiling/outside/whole_process_watch.h"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <time.h>
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
#include "footprint/base/machine/child_processes.h"
#include "footprint/base/machine/kernel_file.h"
#include "footprint/base/machine/memory_group.h"
#include "footprint/profiling/outside/file_uses.h"
#include "footprint/profiling/resident/resident_set.h"

namespace footprint {
namespace {

using profiling_internal::ResidentCounts;

// No mapping's path begins with this.
constexpr char kNoAgentFolder[] = "no agent";

// Parses "RssAnon:\t    1234 kB" in a text like /proc/PID/status; returns 0
// without it.
int64_t ParseBytes(absl::string_view text, absl::string_view name) {
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

ResidentCounts CountResident(int process_id) {
  const std::string status = ProcessFile(process_id, "status");
  ResidentCounts counts;
  counts.mark = ParseBytes(status, "VmHWM");
  counts.anonymous = ParseBytes(status, "RssAnon");
  counts.file = ParseBytes(status, "RssFile");
  counts.shared = ParseBytes(status, "RssShmem");
  counts.page_tables = ParseBytes(status, "VmPTE");
  counts.huge = ParseBytes(status, "HugetlbPages");
  const int64_t image_and_stack_bytes = ParseBytes(status, "VmExe") +
                                        ParseBytes(status, "VmLib") +
                                        ParseBytes(status, "VmStk");
  counts.untouched = std::max<int64_t>(
      ParseBytes(status, "VmSize") - image_and_stack_bytes - counts.anonymous,
      0);
  return counts;
}

// Returns the counts with this process's share of shared pages. Returns zeros
// for a process that has ended since, whose address space another process may
// have.
ResidentCounts ReadShares(int process_id, const ResidentCounts& counts) {
  const std::string rollup = ProcessFile(process_id, "smaps_rollup");
  ResidentCounts shares = counts;
  if (rollup.empty()) {
    return CountResident(process_id).mark == 0 ? ResidentCounts() : shares;
  }
  shares.anonymous = ParseBytes(rollup, "Pss_Anon");
  return shares;
}

std::set<int> FindDescendants(int ancestor_id) {
  std::vector<int> unvisited;
  AppendChildProcesses(ancestor_id, &unvisited);
  std::set<int> descendants;
  while (!unvisited.empty()) {
    const int process_id = unvisited.back();
    unvisited.pop_back();
    if (!descendants.insert(process_id).second) continue;
    AppendChildProcesses(process_id, &unvisited);
  }
  return descendants;
}

// Returns whether two processes share an address space. If the kernel does not
// answer, they count as two.
bool ShareAddressSpace(int a, int b) {
  return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

// Returns one process for each address space.
std::vector<int> FindAddressSpaces(
    const std::map<int, ResidentCounts>& counts) {
  std::vector<int> distinct;
  for (const auto& [process_id, ignored] : counts) {
    const int process = process_id;
    if (std::none_of(distinct.begin(), distinct.end(), [process](int other) {
          return ShareAddressSpace(process, other);
        })) {
      distinct.push_back(process);
    }
  }
  return distinct;
}

timespec ReadClock() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);  // The clock that dates files.
  return now;
}

}  // namespace

WholeProcessWatch::WholeProcessWatch(int ancestor_id, const MemoryGroup* group)
    : ancestor_id_(ancestor_id), group_(group), begin_(ReadClock()) {}

void WholeProcessWatch::Look() {
  CountsOfProcesses counts;
  const std::set<int> alive = FindDescendants(ancestor_id_);
  for (int process_id : alive) {
    const ResidentCounts of_process = CountResident(process_id);
    seen_.insert(process_id);
    if (of_process.mark == 0) continue;  // The process has ended.
    counts[process_id] = of_process;
  }
  const std::vector<int> address_spaces = FindAddressSpaces(counts);
  NoteSum(counts, address_spaces,
          FileUses(address_spaces, alive, seen_, begin_));
  NoteMarks(counts);
  LookAtGroup();
}

// Raises the peak to the kernel's high-water mark of a process, which counts a
// page as often as it is mapped.
void WholeProcessWatch::NoteMarks(const CountsOfProcesses& counts) {
  for (const auto& [process_id, of_process] : counts) {
    if (of_process.mark <= highest_sum_bytes_) continue;
    const FilePages pages = FileUses({process_id}, {}, {}, begin_).CountPages();
    most_repeated_bytes_ =
        std::max(most_repeated_bytes_,
                 pages.repeated_file_bytes + pages.repeated_shared_bytes);
    NoteEnded(of_process.mark);
  }
}

void WholeProcessWatch::NoteHighestSum(int64_t bytes) {
  highest_sum_bytes_ = std::max(highest_sum_bytes_, bytes);
  int64_t mark_bytes = highest_mark_bytes_ - most_repeated_bytes_;
  // Every program maps a page or so repeatedly. If it is much, no sample may
  // have seen the peak, but the group counts each page once.
  const bool is_much = most_repeated_bytes_ > highest_mark_bytes_ / 1000;
  if (group_ != nullptr && is_much) {
    mark_bytes =
        std::min(mark_bytes, last_group_peak_bytes_ + most_file_bytes_);
  }
  peak_.resident_bytes = std::max(highest_sum_bytes_, mark_bytes);
}

void WholeProcessWatch::LookAtGroup() {
  if (group_ == nullptr) return;
  // Page cache that is added while this thread waits for a processor, after its
  // use and before the mark is read, is only in the mark. So the use is read
  // again.
  const int64_t rest_before_bytes = group_->ReadUse().rest_bytes();
  const int64_t group_peak_bytes = group_->peak_bytes();
  const int64_t rest_bytes = group_->ReadUse().rest_bytes();
  // Page cache that was dropped since the mark is also subtracted.
  if (group_peak_bytes > last_group_peak_bytes_) {
    NoteHighestSum(
        group_peak_bytes -
        std::max({rest_before_bytes, rest_bytes, last_group_rest_bytes_}) +
        last_file_bytes_);
  }
  last_group_peak_bytes_ = group_peak_bytes;
  last_group_rest_bytes_ = rest_bytes;
  NoteHighestSum(0);
}

// Adds up each page of `address_spaces` once.
WholeProcessWatch::Sum WholeProcessWatch::AddUp(
    const CountsOfProcesses& counts, const std::vector<int>& address_spaces,
    const FileUses& uses) const {
  Sum sum;
  const bool are_several = address_spaces.size() > 1;
  for (int process_id : address_spaces) {
    const ResidentCounts& counted = counts.at(process_id);
    const ResidentCounts shares =
        are_several ? ReadShares(process_id, counted) : counted;
    sum.mapped.anonymous += shares.anonymous;
    sum.mapped.file += shares.file;
    sum.mapped.shared += shares.shared;
    sum.mapped.page_tables += shares.page_tables;
  }
  const FilePages pages = uses.CountPages();
  sum.mapped.file =
      std::max<int64_t>(sum.mapped.file - pages.repeated_file_bytes, 0);
  sum.mapped.shared =
      std::max<int64_t>(sum.mapped.shared - pages.repeated_shared_bytes, 0);
  // This is the difference to the whole content of all files in memory. Pages
  // that were unmapped since the processes' counts were read would otherwise
  // count twice.
  sum.unmapped_bytes =
      pages.is_whole_known
          ? std::max<int64_t>(pages.whole_bytes - sum.mapped.shared, 0)
          : pages.unmapped_bytes;
  sum.huge_bytes = pages.huge_bytes;
  return sum;
}

void WholeProcessWatch::NoteSum(const CountsOfProcesses& counts,
                                const std::vector<int>& address_spaces,
                                const FileUses& uses) {
  const int64_t needed_bytes =
      group_ == nullptr ? 0 : group_->ReadUse().needed_bytes;
  int64_t file_bytes = 0;
  int64_t rest_bytes = uses.MostWholeBytes();
  for (int process_id : address_spaces) {
    const ResidentCounts& of_process = counts.at(process_id);
    file_bytes += of_process.file;
    rest_bytes += of_process.Sum() - of_process.file;
  }
  if (counts.empty()) return;
  most_file_bytes_ = std::max(most_file_bytes_, file_bytes);
  // The exact sum takes longer. It is not needed if even this upper bound is
  // not above the sum of the sample whose parts were read.
  if (file_bytes + std::max(rest_bytes, needed_bytes + uses.MostWholeBytes()) <=
      parts_sum_bytes_) {
    last_file_bytes_ = std::min(last_file_bytes_, file_bytes);
    return;
  }
  // Computes the exact sum, and keeps it if it is the highest.
  Sum sum = AddUp(counts, address_spaces, uses);
  const int64_t told_bytes =
      sum.mapped.anonymous + sum.mapped.shared + sum.unmapped_bytes;
  sum.kernel_bytes =
      std::max(sum.mapped.page_tables, needed_bytes - told_bytes);
  last_file_bytes_ = sum.mapped.file + sum.huge_bytes;
  const int64_t now_bytes = sum.Bytes();
  if (now_bytes > highest_sum_bytes_) {
    NoteHighestSum(now_bytes);
    peak_.anonymous_bytes = sum.mapped.anonymous + sum.huge_bytes;
    peak_.file_bytes = sum.mapped.file;
    peak_.shared_bytes = sum.mapped.shared + sum.unmapped_bytes;
    peak_.process_count = static_cast<int>(counts.size());
    peak_.untouched_bytes = 0;
    for (int process_id : address_spaces) {
      peak_.untouched_bytes += counts.at(process_id).untouched;
    }
  }
  // Reads the parts if the sum is higher than at their last reading: by 2 %
  // while it grows, and by any page once it hardly changes.
  const bool stays = now_bytes - last_sum_bytes_ < now_bytes / 2000;
  last_sum_bytes_ = now_bytes;
  if (now_bytes > parts_sum_bytes_ + (stays ? 0 : parts_sum_bytes_ / 50)) {
    ReadParts(counts, sum);
  }
}

void WholeProcessWatch::ReadParts(const CountsOfProcesses& counts,
                                  const Sum& sum) {
  const auto largest = std::max_element(
      counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second.Sum() < b.second.Sum();
      });
  const absl::StatusOr<ResidentSet> set =
      ReadResidentSet(largest->first, {}, kNoAgentFolder);
  if (!set.ok()) return;
  const FilePages own = FileUses({largest->first}, {}, {}, begin_).CountPages();
  WholeProcessParts parts;
  parts.heap_and_mapping_bytes =
      set->heap_bytes + set->mapped_bytes + sum.huge_bytes;
  parts.stack_bytes = set->stack_bytes;
  parts.image_bytes = set->image_bytes;
  parts.file_bytes =
      std::max<int64_t>(set->file_bytes - own.repeated_file_bytes, 0);
  parts.shared_bytes =
      std::max<int64_t>(set->shared_bytes - own.repeated_shared_bytes, 0) +
      sum.unmapped_bytes;
  parts.kernel_bytes = sum.kernel_bytes;
  parts.other_bytes = set->other_bytes;
  if (counts.size() > 1) {
    parts.other_process_bytes = std::max<int64_t>(
        sum.mapped.anonymous + sum.mapped.file + sum.mapped.shared -
            (largest->second.anonymous + largest->second.file +
             largest->second.shared - own.repeated_file_bytes -
             own.repeated_shared_bytes),
        0);
  }
  peak_.parts = parts;
  parts_sum_bytes_ = sum.Bytes();
}

void WholeProcessWatch::NoteEnded(int64_t peak_resident_bytes) {
  highest_mark_bytes_ = std::max(highest_mark_bytes_, peak_resident_bytes);
  NoteHighestSum(0);
}

}  // namespace footprint
