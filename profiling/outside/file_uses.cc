#include "footprint/profiling/outside/file_uses.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {
namespace {

// The device of System V segments, whose IDs serve as inodes.
constexpr uint64_t kSegments = ~uint64_t{0};
// The largest mapping whose pages are examined. Pages of a larger one count as
// often as they are mapped.
constexpr uint64_t kMostMappedBytes = uint64_t{1} << 36;
// Bits of an entry of /proc/PID/pagemap.
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kOfFile = uint64_t{1} << 61;

std::string ReadProcessFile(int process_id, absl::string_view name) {
  return ReadKernelFile(absl::StrCat("/proc/", process_id, "/", name))
      .value_or("");
}

std::vector<std::string> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  DIR* const folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(folder);
  return names;
}

// A line of /proc/PID/maps for a file's mapping.
struct MappingLine {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  absl::string_view path;
};

bool ParseMappingLine(absl::string_view line, MappingLine* parsed) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::MaxSplits(' ', 5));
  if (words.size() < 6) return false;
  const std::vector<absl::string_view> ends = absl::StrSplit(words[0], '-');
  const std::vector<absl::string_view> device = absl::StrSplit(words[3], ':');
  uint32_t major = 0;
  uint32_t minor = 0;
  if (ends.size() != 2 || device.size() != 2 ||
      !absl::SimpleHexAtoi(ends[0], &parsed->begin) ||
      !absl::SimpleHexAtoi(ends[1], &parsed->end) ||
      !absl::SimpleHexAtoi(words[2], &parsed->offset) ||
      !absl::SimpleHexAtoi(device[0], &major) ||
      !absl::SimpleHexAtoi(device[1], &minor) ||
      !absl::SimpleAtoi(words[4], &parsed->inode)) {
    return false;
  }
  parsed->path = absl::StripLeadingAsciiWhitespace(words[5]);
  // The ID of a namespace's first segment is 0, unlike any inode of a file.
  const bool is_segment = absl::StartsWith(parsed->path, "/SYSV");
  parsed->device = is_segment ? kSegments : makedev(major, minor);
  return is_segment || parsed->inode != 0;
}

bool IsSharedMemory(absl::string_view path) {
  return absl::StartsWith(path, "/memfd:") || absl::StartsWith(path, "/SYSV") ||
         absl::StartsWith(path, "/dev/zero") ||
         absl::StartsWith(path, "/dev/shm/");
}

bool IsAtOrAfter(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec >= b.tv_nsec;
}

// Sets the entries of `pages` that are mapped, and returns their number.
int64_t MarkPresent(int process_id, uint64_t first_page, uint64_t count,
                    std::vector<bool>::iterator pages) {
  const FileDescriptor file(
      open(absl::StrCat("/proc/", process_id, "/pagemap").c_str(),
           O_RDONLY | O_CLOEXEC));
  std::vector<uint64_t> entries(std::min<uint64_t>(count, 8192));
  int64_t present_count = 0;
  for (uint64_t done = 0; file.is_open() && done < count;) {
    const uint64_t wanted = std::min<uint64_t>(entries.size(), count - done);
    const ssize_t size =
        pread(file.get(), entries.data(), wanted * sizeof(uint64_t),
              static_cast<off_t>((first_page + done) * sizeof(uint64_t)));
    if (size < static_cast<ssize_t>(sizeof(uint64_t))) break;
    const uint64_t read_count = static_cast<uint64_t>(size) / sizeof(uint64_t);
    for (uint64_t i = 0; i < read_count; ++i) {
      if ((~entries[i] & (kPresent | kOfFile)) != 0) continue;
      *(pages + static_cast<std::ptrdiff_t>(done + i)) = true;
      ++present_count;
    }
    done += read_count;
  }
  return present_count;
}

}  // namespace

FileUses::FileUses(const std::vector<int>& address_spaces,
                   const std::set<int>& processes,
                   const std::set<int>& creators, const timespec& begin)
    : begin_(begin) {
  for (int process_id : processes) AddDescriptors(process_id);
  for (int process_id : address_spaces) AddMappings(process_id);
  AddSegments(creators);
}

FileUses::FileSystem FileUses::FindFileSystem(const std::string& link,
                                              uint64_t device) {
  const auto [found, is_new] =
      file_systems_.try_emplace(device, FileSystem::kOther);
  struct statfs facts;
  if (!is_new || statfs(link.c_str(), &facts) != 0) return found->second;
  if (facts.f_type == HUGETLBFS_MAGIC) {
    found->second = FileSystem::kHuge;
  } else if (facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC) {
    found->second = FileSystem::kMemory;
  }
  return found->second;
}

FileUses::Use* FileUses::NoteFile(const std::string& link) {
  struct stat facts;
  if (stat(link.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return nullptr;
  }
  const FileSystem file_system = FindFileSystem(link, facts.st_dev);
  if (file_system == FileSystem::kOther) return nullptr;
  Use& use = uses_[{facts.st_dev, facts.st_ino}];
  use.is_in_memory = true;
  use.is_huge = file_system == FileSystem::kHuge;
  if (facts.st_nlink == 0 || IsAtOrAfter(facts.st_ctim, begin_)) {
    use.whole_bytes = int64_t{facts.st_blocks} * 512;
  }
  return &use;
}

void FileUses::AddDescriptorsOfTask(const std::string& folder) {
  for (const std::string& name : ListFolder(folder)) {
    NoteFile(absl::StrCat(folder, "/", name));
  }
}

void FileUses::AddDescriptors(int process_id) {
  const std::string tasks = absl::StrCat("/proc/", process_id, "/task");
  for (const std::string& name : ListFolder(tasks)) {
    int task_id = 0;
    if (!absl::SimpleAtoi(name, &task_id)) continue;
    const bool has_same_table =
        task_id != process_id &&
        syscall(SYS_kcmp, process_id, task_id, KCMP_FILES, 0, 0) == 0;
    if (!has_same_table) {
      AddDescriptorsOfTask(absl::StrCat(tasks, "/", name, "/fd"));
    }
  }
}

void FileUses::AddMapping(int process_id, absl::string_view line) {
  MappingLine parsed;
  if (!ParseMappingLine(line, &parsed)) return;
  const Key key(parsed.device, parsed.inode);
  const bool is_new = uses_.count(key) == 0;
  if (is_new && parsed.device != kSegments) {
    NoteFile(absl::StrCat("/proc/", process_id, "/map_files/",
                          absl::Hex(parsed.begin), "-", absl::Hex(parsed.end)));
  }
  Use& use = uses_[key];
  use.is_in_memory |= IsSharedMemory(parsed.path);
  use.mappings.push_back(
      {process_id, parsed.begin, parsed.offset, parsed.end - parsed.begin});
}

void FileUses::AddMappings(int process_id) {
  const std::string maps = ReadProcessFile(process_id, "maps");
  for (absl::string_view line : absl::StrSplit(maps, '\n')) {
    AddMapping(process_id, line);
  }
  if (!absl::StrContains(ReadProcessFile(process_id, "status"),
                         "HugetlbPages:\t       0 kB")) {
    AddHugeMappings(process_id);
  }
}

void FileUses::AddHugeMappings(int process_id) {
  const std::string text = ReadProcessFile(process_id, "smaps");
  MappingLine last;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    MappingLine begun;
    if (ParseMappingLine(line, &begun)) last = begun;
    const bool is_private = absl::ConsumePrefix(&line, "Private_Hugetlb:");
    if (!is_private && !absl::ConsumePrefix(&line, "Shared_Hugetlb:")) continue;
    int64_t kibibytes = 0;
    line = absl::StripAsciiWhitespace(absl::StripSuffix(line, " kB"));
    if (!absl::SimpleAtoi(line, &kibibytes) || kibibytes == 0) continue;
    Use& use = uses_[{last.device, last.inode}];
    use.is_huge = true;
    if (is_private) {
      use.private_huge_bytes += kibibytes * 1024;
    } else {
      use.shared_huge_bytes = std::max(use.shared_huge_bytes, kibibytes * 1024);
    }
  }
}

// Adds System V segments. By proc(5), a line of /proc/sysvipc/shm has key, id,
// mode, size, creator, last, attached, 4 numbers of owners, 3 times, resident
// bytes and swapped ones.
void FileUses::AddSegments(const std::set<int>& creators) {
  constexpr size_t kNumber = 1;
  constexpr size_t kCreator = 4;
  constexpr size_t kResident = 14;
  const std::string list = ReadKernelFile("/proc/sysvipc/shm").value_or("");
  if (list.empty()) return;  // An existing list has a line of headings.
  for (absl::string_view line : absl::StrSplit(list, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    uint64_t number = 0;
    int creator = 0;
    int64_t bytes = 0;
    if (words.size() <= kResident ||
        !absl::SimpleAtoi(words[kNumber], &number) ||
        !absl::SimpleAtoi(words[kCreator], &creator) ||
        !absl::SimpleAtoi(words[kResident], &bytes)) {
      continue;
    }
    const Key key(kSegments, number);
    if (creators.count(creator) == 0 && uses_.count(key) == 0) continue;
    Use& use = uses_[key];
    use.is_in_memory = true;
    use.whole_bytes = bytes;
  }
  // A segment that is not in the list has been removed since its mapping was
  // read.
  for (auto& [key, use] : uses_) {
    if (key.first == kSegments && use.whole_bytes < 0) use.whole_bytes = 0;
  }
}

int64_t FileUses::MostWholeBytes() const {
  int64_t sum = 0;
  for (const auto& [ignored, use] : uses_) {
    sum += std::max<int64_t>(use.whole_bytes, 0) + use.private_huge_bytes +
           use.shared_huge_bytes;
  }
  return sum;
}

bool FileUses::HasRepetition(const Use& use) {
  std::vector<Mapping> sorted = use.mappings;
  std::sort(
      sorted.begin(), sorted.end(),
      [](const Mapping& a, const Mapping& b) { return a.offset < b.offset; });
  uint64_t end = 0;
  for (const Mapping& mapping : sorted) {
    if (mapping.offset < end) return true;
    end = mapping.offset + mapping.size;
  }
  return false;
}

void FileUses::CountUse(const Use& use, FilePages* pages) {
  if (use.is_huge) {
    pages->huge_bytes += use.private_huge_bytes +
                         std::max(use.shared_huge_bytes, use.whole_bytes);
    return;
  }
  if (use.is_in_memory) {
    pages->is_whole_known &= use.whole_bytes >= 0;
    pages->whole_bytes += std::max<int64_t>(use.whole_bytes, 0);
  }
  if (use.whole_bytes < 0 && !HasRepetition(use)) return;
  const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t first = ~uint64_t{0};
  uint64_t end = 0;
  for (const Mapping& mapping : use.mappings) {
    first = std::min(first, mapping.offset / page_bytes);
    end = std::max(end, (mapping.offset + mapping.size) / page_bytes);
  }
  if (first > end || end - first > kMostMappedBytes / page_bytes) {
    first = end = 0;  // not mapped, or too large
  }
  std::vector<bool> present(end - first);
  int64_t mapped_count = 0;
  for (const Mapping& mapping : use.mappings) {
    if (end == 0) break;
    mapped_count += MarkPresent(
        mapping.process_id, mapping.address / page_bytes,
        mapping.size / page_bytes,
        present.begin() +
            static_cast<std::ptrdiff_t>(mapping.offset / page_bytes - first));
  }
  const int64_t count = std::count(present.begin(), present.end(), true);
  const int64_t size = static_cast<int64_t>(page_bytes);
  (use.is_in_memory ? pages->repeated_shared_bytes
                    : pages->repeated_file_bytes) +=
      (mapped_count - count) * size;
  pages->unmapped_bytes += std::max<int64_t>(use.whole_bytes - count * size, 0);
}

FilePages FileUses::CountPages() const {
  FilePages pages;
  for (const auto& [ignored, use] : uses_) CountUse(use, &pages);
  return pages;
}

}  // namespace footprint
