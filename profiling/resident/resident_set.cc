#include "footprint/profiling/resident/resident_set.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {
namespace {

constexpr uint64_t kPresent = uint64_t{1} << 63;

struct Mapping {
  AddressRange range;
  bool is_readable = false;
  bool is_writable = false;
  bool is_executable = false;
  bool is_shared = false;
  absl::string_view device;
  absl::string_view path;
  int64_t resident_bytes = 0;
  int64_t proportional_bytes = 0;
  int64_t written_bytes = 0;  // Pages that differ from the file.
  int64_t dirty_bytes = 0;    // Pages that are not on the disk.
  int64_t swapped_bytes = 0;
  int64_t locked_bytes = 0;
};

// Parses "Rss:      4 kB".
int64_t ParseKibibytes(absl::string_view line) {
  line.remove_prefix(std::min(line.size(), line.find(':') + 1));
  line = absl::StripLeadingAsciiWhitespace(line);
  int64_t kibibytes = 0;
  (void)absl::SimpleAtoi(line.substr(0, line.find(' ')), &kibibytes);
  return kibibytes * 1024;
}

// Parses "7f00-7f10 rw-p 00000000 00:00 0      [stack]". Returns false for any
// other line.
bool ParseHeading(absl::string_view line, Mapping* mapping) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::MaxSplits(' ', 5));
  if (words.size() < 5) return false;
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(words[0], absl::MaxSplits('-', 1));
  if (words[1].size() != 4 ||
      !absl::SimpleHexAtoi(ends.first, &mapping->range.begin) ||
      !absl::SimpleHexAtoi(ends.second, &mapping->range.end)) {
    return false;
  }
  mapping->is_readable = words[1][0] == 'r';
  mapping->is_writable = words[1][1] == 'w';
  mapping->is_executable = words[1][2] == 'x';
  mapping->is_shared = words[1][3] == 's';
  mapping->device = words[3];
  if (words.size() == 6) {
    mapping->path = absl::StripLeadingAsciiWhitespace(words[5]);
  }
  return true;
}

std::vector<Mapping> ParseMappings(absl::string_view text) {
  std::vector<Mapping> mappings;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    Mapping begun;
    if (ParseHeading(line, &begun)) {
      mappings.push_back(begun);
    } else if (!mappings.empty()) {
      Mapping& mapping = mappings.back();
      if (absl::StartsWith(line, "Rss:")) {
        mapping.resident_bytes = ParseKibibytes(line);
      } else if (absl::StartsWith(line, "Pss:")) {
        mapping.proportional_bytes = ParseKibibytes(line);
      } else if (absl::StartsWith(line, "Anonymous:")) {
        mapping.written_bytes = ParseKibibytes(line);
      } else if (absl::StartsWith(line, "Private_Dirty:") ||
                 absl::StartsWith(line, "Shared_Dirty:")) {
        mapping.dirty_bytes += ParseKibibytes(line);
      } else if (absl::StartsWith(line, "Swap:")) {
        mapping.swapped_bytes = ParseKibibytes(line);
      } else if (absl::StartsWith(line, "Locked:")) {
        mapping.locked_bytes = ParseKibibytes(line);
      }
    }
  }
  return mappings;
}

bool IsSharedMemory(absl::string_view path) {
  return absl::StartsWith(path, "/dev/shm/") ||
         absl::StartsWith(path, "/dev/zero") ||
         absl::StartsWith(path, "/memfd:") || absl::StartsWith(path, "/SYSV");
}

// Assigns mappings to parts in their order, since some depend on the one
// before.
class Classifier {
 public:
  Classifier(const std::vector<Mapping>& mappings, const KnownRanges& ranges,
             const std::string& agent_folder,
             absl::FunctionRef<int64_t(AddressRange)> resident_in)
      : ranges_(ranges),
        agent_folder_(agent_folder),
        resident_in_(resident_in) {
    for (const Mapping& mapping : mappings) {
      if (mapping.is_executable) has_code_[mapping.path] = true;
    }
  }

  void Add(const Mapping& mapping) {
    parts_.swapped_bytes += mapping.swapped_bytes;
    // The kernel lists adjacent ranges as one mapping.
    const int64_t mapped_bytes = BytesIn(ranges_.mapped, mapping);
    const int64_t agent_bytes = std::min(BytesIn(ranges_.agent, mapping),
                                         mapping.resident_bytes - mapped_bytes);
    AddToShares(mapping, agent_bytes);
    parts_.mapped_bytes += mapped_bytes;
    parts_.agent_bytes += agent_bytes;
    parts_.*FindPart(mapping) +=
        mapping.resident_bytes - mapped_bytes - agent_bytes;
    before_ = mapping;
  }

  const ResidentSet& parts() const { return parts_; }

 private:
  bool IsAgent(absl::string_view path) const {
    return absl::ConsumePrefix(&path, agent_folder_) &&
           absl::StartsWith(path, "/");
  }

  void AddToShares(const Mapping& mapping, int64_t agent_bytes) {
    if (IsAgent(mapping.path)) {
      parts_.has_agent = true;
      return;
    }
    if (!mapping.path.empty() && mapping.path[0] == '/') {
      parts_.device_bytes[std::string(mapping.device)] +=
          mapping.proportional_bytes;
    }
    const bool has_file = !mapping.path.empty() && mapping.path[0] == '/' &&
                          !IsSharedMemory(mapping.path);
    if (!has_file) {
      parts_.anonymous_bytes +=
          mapping.proportional_bytes - AgentShare(mapping, agent_bytes);
      return;
    }
    parts_.anonymous_bytes += mapping.written_bytes;
    ResidentFile& pages = parts_.files[std::string(mapping.path)];
    const int64_t bytes = mapping.resident_bytes - mapping.written_bytes;
    pages.bytes += bytes;
    if (mapping.locked_bytes > 0 || IsImage(mapping.path)) {
      pages.held_bytes += bytes;
    } else if (mapping.is_writable && mapping.is_shared) {
      pages.held_bytes += std::min(mapping.dirty_bytes, bytes);
    }
    pages.device = std::string(mapping.device);
  }

  // Returns the agent's part of the mapping's share, in proportion to its
  // resident bytes.
  static int64_t AgentShare(const Mapping& mapping, int64_t agent_bytes) {
    if (agent_bytes == 0) return 0;
    return static_cast<int64_t>(
        static_cast<double>(agent_bytes) *
        static_cast<double>(mapping.proportional_bytes) /
        static_cast<double>(mapping.resident_bytes));
  }

  int64_t BytesIn(const std::vector<AddressRange>& ranges,
                  const Mapping& mapping) const {
    if (mapping.resident_bytes == 0 || !IsUnnamed(mapping)) return 0;
    int64_t bytes = 0;
    for (const AddressRange& range : ranges) {
      const AddressRange common = {std::max(range.begin, mapping.range.begin),
                                   std::min(range.end, mapping.range.end)};
      if (common.begin >= common.end) continue;
      bytes +=
          common.begin == mapping.range.begin && common.end == mapping.range.end
              ? mapping.resident_bytes
              : resident_in_(common);
    }
    return std::min(bytes, mapping.resident_bytes);
  }

  // A program may have named its anonymous memory.
  static bool IsUnnamed(const Mapping& mapping) {
    return mapping.path.empty() || absl::StartsWith(mapping.path, "[anon");
  }

  bool IsImage(absl::string_view path) const {
    const auto found = has_code_.find(path);
    return found != has_code_.end() && found->second;
  }

  int64_t ResidentSet::*FindPart(const Mapping& mapping) {
    if (IsUnnamed(mapping)) return FindAnonymousPart(mapping);
    follows_image_ = false;
    if (mapping.path == "[heap]") return &ResidentSet::heap_bytes;
    if (absl::StartsWith(mapping.path, "[stack")) {
      return &ResidentSet::stack_bytes;
    }
    if (mapping.path[0] == '[') return &ResidentSet::other_bytes;
    if (IsAgent(mapping.path)) return &ResidentSet::agent_bytes;
    if (IsSharedMemory(mapping.path)) return &ResidentSet::shared_bytes;
    follows_image_ = IsImage(mapping.path);
    return follows_image_ ? &ResidentSet::image_bytes
                          : &ResidentSet::file_bytes;
  }

  int64_t ResidentSet::*FindAnonymousPart(const Mapping& mapping) {
    if (mapping.is_shared) return &ResidentSet::shared_bytes;
    const bool adjoins = before_.range.end == mapping.range.begin;
    // An object's zeroed data follows its file's mapping.
    if (follows_image_ && adjoins) {
      follows_image_ = false;
      return &ResidentSet::image_bytes;
    }
    follows_image_ = false;
    // A thread's stack lies above guard pages. An arena of glibc may also lie
    // above the reserve of the next one, but it begins at a multiple of its
    // greatest size.
    constexpr uint64_t kArenaBytes = uint64_t{64} << 20;
    const bool has_guard = adjoins && IsUnnamed(before_) &&
                           !before_.is_readable && !before_.is_executable &&
                           mapping.range.begin % kArenaBytes != 0;
    return has_guard ? &ResidentSet::stack_bytes : &ResidentSet::heap_bytes;
  }

  const KnownRanges& ranges_;
  const std::string& agent_folder_;
  absl::FunctionRef<int64_t(AddressRange)> resident_in_;
  std::map<absl::string_view, bool> has_code_;
  Mapping before_;
  bool follows_image_ = false;
  ResidentSet parts_;
};

// Counts how many bytes of a process's ranges are in memory.
class PageMap {
 public:
  explicit PageMap(int process_id)
      : file_(open(absl::StrCat("/proc/", process_id, "/pagemap").c_str(),
                   O_RDONLY | O_CLOEXEC)),
        page_bytes_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {}

  int64_t ResidentIn(AddressRange range) const {
    int64_t bytes = 0;
    uint64_t entries[512];
    for (uint64_t page = range.begin / page_bytes_;
         page < range.end / page_bytes_;) {
      const uint64_t count = std::min<uint64_t>(std::size(entries),
                                                range.end / page_bytes_ - page);
      const ssize_t read_bytes =
          pread(file_.get(), entries, count * sizeof(uint64_t),
                static_cast<off_t>(page * sizeof(uint64_t)));
      if (read_bytes <= 0) break;
      const uint64_t read_count =
          static_cast<uint64_t>(read_bytes) / sizeof(uint64_t);
      for (uint64_t i = 0; i < read_count; ++i) {
        if ((entries[i] & kPresent) != 0) {
          bytes += static_cast<int64_t>(page_bytes_);
        }
      }
      page += read_count;
    }
    return bytes;
  }

 private:
  FileDescriptor file_;
  uint64_t page_bytes_;
};

// Reads /proc/PID/status.
void ReadStatus(int process_id, ResidentSet* parts) {
  const absl::StatusOr<std::string> text =
      ReadKernelFile(absl::StrCat("/proc/", process_id, "/status"));
  if (!text.ok()) return;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (absl::ConsumePrefix(&line, "VmPTE:")) {
      parts->page_table_bytes = ParseKibibytes(absl::StrCat(":", line));
    } else if (absl::ConsumePrefix(&line, "VmRSS:")) {
      parts->resident_bytes = ParseKibibytes(absl::StrCat(":", line));
    }
  }
}

}  // namespace

// The name may hold any character, so the fields begin behind its end.
void ParseFaults(absl::string_view stat, ResidentSet* parts) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(stat.substr(stat.rfind(')') + 1), ' ', absl::SkipEmpty());
  constexpr size_t kMinorFaults = 7;
  constexpr size_t kMajorFaults = 9;
  if (words.size() <= kMajorFaults) return;
  (void)absl::SimpleAtoi(words[kMinorFaults], &parts->minor_fault_count);
  (void)absl::SimpleAtoi(words[kMajorFaults], &parts->major_fault_count);
}

ResidentSet ClassifyMappings(
    absl::string_view mappings, const KnownRanges& ranges,
    const std::string& agent_folder,
    absl::FunctionRef<int64_t(AddressRange)> resident_in) {
  const std::vector<Mapping> parsed = ParseMappings(mappings);
  Classifier classifier(parsed, ranges, agent_folder, resident_in);
  for (const Mapping& mapping : parsed) classifier.Add(mapping);
  return classifier.parts();
}

namespace {

// How often to try to find a moment at which the process does not change.
constexpr int kMaxReadings = 3;

// Returns whether pages changed by more than a fiftieth between two lists.
bool IsTorn(const ResidentSet& parts) {
  return std::abs(parts.unexplained_bytes) > parts.resident_bytes / 50;
}

absl::StatusOr<ResidentSet> ReadOnce(int process_id, const KnownRanges& ranges,
                                     const std::string& agent_folder) {
  const absl::StatusOr<std::string> mappings =
      ReadKernelFile(absl::StrCat("/proc/", process_id, "/smaps"));
  if (!mappings.ok()) return mappings.status();
  const PageMap pages(process_id);
  ResidentSet parts = ClassifyMappings(
      *mappings, ranges, agent_folder,
      [&](AddressRange range) { return pages.ResidentIn(range); });
  ReadStatus(process_id, &parts);
  if (parts.resident_bytes == 0) {
    return absl::NotFoundError(
        absl::StrCat("process ", process_id, " has ended"));
  }
  parts.unexplained_bytes = parts.resident_bytes - parts.explained_bytes();
  return parts;
}

}  // namespace

absl::StatusOr<ResidentSet> ReadResidentSet(int process_id,
                                            const KnownRanges& ranges,
                                            const std::string& agent_folder) {
  absl::StatusOr<ResidentSet> parts =
      ReadOnce(process_id, ranges, agent_folder);
  for (int i = 1; i < kMaxReadings && parts.ok() && IsTorn(*parts); ++i) {
    absl::StatusOr<ResidentSet> again =
        ReadOnce(process_id, ranges, agent_folder);
    // The process has probably ended; the reading before stays.
    if (!again.ok()) break;
    parts = *std::move(again);
  }
  if (!parts.ok()) return parts.status();
  // Pages that did not exist when the mappings were listed belong to no part
  // and to another moment.
  if (IsTorn(*parts)) {
    parts->resident_bytes = parts->explained_bytes();
    parts->unexplained_bytes = 0;
  }
  if (const absl::StatusOr<std::string> stat =
          ReadKernelFile(absl::StrCat("/proc/", process_id, "/stat"));
      stat.ok()) {
    ParseFaults(*stat, &*parts);
  }
  return parts;
}

}  // namespace footprint
