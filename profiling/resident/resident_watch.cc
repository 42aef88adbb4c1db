#include "footprint/profiling/resident/resident_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/machine/child_processes.h"
#include "footprint/base/machine/kernel_file.h"
#include "footprint/base/machine/monotonic_time.h"

namespace footprint {
namespace {

// Bytes of the kernel's stack for each thread.
constexpr int64_t kKernelStackBytes = 16 << 10;
// The image number of a process without a record.
constexpr int kNoImage = -1;
// How often to try to find a moment at which no process begins or ends.
constexpr int kMaxReadings = 3;
// After a vain reading of shares, the watch waits this many times its processor
// time. So it spends at most a tenth of a processor.
constexpr int64_t kRestFactor = 9;
// Less than this does not change a limit of whole MiB, so it is not watched.
constexpr int64_t kLeastDroppableBytes = 1 << 20;

int64_t ResidentBytes(int process_id) {
  const std::string path = absl::StrCat("/proc/", process_id, "/statm");
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[128];
  if (!file.is_open()) return 0;
  const ssize_t size = read(file.get(), text, sizeof(text) - 1);
  if (size <= 0) return 0;
  text[size] = '\0';
  int64_t mapped = 0;
  int64_t resident = 0;
  std::sscanf(text, "%ld %ld", &mapped, &resident);
  return resident * sysconf(_SC_PAGESIZE);
}

// Returns the resident bytes of mapped files.
int64_t FileBytes(int process_id) {
  const absl::StatusOr<std::string> status =
      ReadKernelFile(absl::StrCat("/proc/", process_id, "/status"));
  if (!status.ok()) return 0;
  for (absl::string_view line : absl::StrSplit(*status, '\n')) {
    int64_t kibibytes = 0;
    if (absl::ConsumePrefix(&line, "RssFile:") &&
        absl::ConsumeSuffix(&line, " kB") &&
        absl::SimpleAtoi(line, &kibibytes)) {
      return kibibytes * 1024;
    }
  }
  return 0;
}

int64_t ThreadCount(int process_id) {
  DIR* const tasks =
      opendir(absl::StrCat("/proc/", process_id, "/task").c_str());
  if (tasks == nullptr) return 0;
  int64_t count = 0;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(tasks);
  return count;
}

// Returns the existing processes and their children, including those without a
// record yet, because they share the same pages. No process may begin or end
// while shares are read. Growth does little harm, because it belongs to one
// process. A child that has ended and was not waited for holds nothing.
std::set<int> ProcessesAndChildren(const std::set<int>& process_ids) {
  std::set<int> found;
  for (const int process_id : process_ids) {
    if (ResidentBytes(process_id) > 0) found.insert(process_id);
    std::vector<int> children;
    AppendChildProcesses(process_id, &children);
    for (const int child : children) {
      if (ResidentBytes(child) > 0) found.insert(child);
    }
  }
  return found;
}

// Returns whether a process has grown enough to read its parts again: by a
// fiftieth while it grows, and by less when it stays constant, so that a peak
// that lasts is met closely.
bool HasGrown(int64_t now_bytes, int64_t last_bytes, int64_t read_bytes) {
  return HasGrownEnough(now_bytes, last_bytes, now_bytes - read_bytes,
                        read_bytes);
}

// Replaces `kept` by `sum` if that is larger. Shares from different moments can
// have any sum, so they are kept only until valid ones are known.
void KeepLarger(const SharedOnce& sum, int64_t (SharedOnce::*bytes)() const,
                SharedOnce* kept) {
  if (sum.is_of_one_moment == kept->is_of_one_moment
          ? (sum.*bytes)() > (kept->*bytes)()
          : sum.is_of_one_moment) {
    *kept = sum;
  }
}

// Returns what a sample must exceed to be a new peak.
int64_t KnownPeak(const SharedOnce& kept,
                  int64_t (SharedOnce::*bytes)() const) {
  return kept.is_of_one_moment ? (kept.*bytes)() : -1;
}

}  // namespace

ResidentWatch::ResidentWatch(std::string record_folder)
    : folder_(std::move(record_folder)),
      rereadable_devices_(ReadMounts()),
      memory_files_(ReadMounts(), folder_) {}

// Parses names like "1234.0.record".
std::map<int, int> ResidentWatch::Images() const {
  std::map<int, int> images;
  DIR* const directory = opendir(folder_.c_str());
  if (directory == nullptr) return images;
  while (const dirent* entry = readdir(directory)) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(entry->d_name, '.');
    int process = 0;
    int image = 0;
    if (words.size() == 3 && words[2] == "record" &&
        absl::SimpleAtoi(words[0], &process) &&
        absl::SimpleAtoi(words[1], &image)) {
      int& last = images[process];
      last = std::max(last, image);
    }
  }
  closedir(directory);
  return images;
}

absl::StatusOr<MappingState> ResidentWatch::ReadState(int process_id,
                                                      int image) const {
  return ReadMappingState(
      absl::StrCat(folder_, "/", process_id, ".", image, ".mappings"));
}

void ResidentWatch::ReadParts(int process_id, int image) {
  const absl::StatusOr<MappingState> state = ReadState(process_id, image);
  absl::StatusOr<ResidentSet> parts = ReadResidentSet(
      process_id, state.ok() ? state->ranges : KnownRanges(), folder_);
  // The process may have ended, or it is another user's.
  if (!parts.ok()) return;
  if (!parts->has_agent) {
    bytes_without_agent_[{process_id, image}] = parts->resident_bytes;
    return;
  }
  ResidentPeak& peak = peaks_[{process_id, image}];
  if (peak.parts.program_bytes() >= parts->program_bytes()) return;
  peak = {process_id, image, MonotonicTimeNs(), *parts,
          state.ok() ? state->live_bytes : 0};
}

SharedOnce ResidentWatch::ReadShares(const std::set<int>& process_ids) const {
  SharedOnce sum;
  std::map<std::string, ResidentFile> files;
  std::map<std::string, int64_t> mapped_bytes_by_device;
  for (const int process_id : process_ids) {
    const auto image = images_.find(process_id);
    const absl::StatusOr<MappingState> state = ReadState(
        process_id, image == images_.end() ? kNoImage : image->second);
    const absl::StatusOr<ResidentSet> parts = ReadResidentSet(
        process_id, state.ok() ? state->ranges : KnownRanges(), folder_);
    if (!parts.ok()) {
      // Another user's process may share memory, but how much is unknown.
      if (absl::IsPermissionDenied(parts.status())) {
        sum.resident_sum_bytes += ResidentBytes(process_id);
        sum.anonymous_bytes += ResidentBytes(process_id);
      }
      continue;
    }
    // The process may have grown since its mappings were listed.
    sum.resident_sum_bytes += parts->explained_bytes();
    sum.anonymous_bytes += parts->anonymous_bytes;
    for (const auto& [path, pages] : parts->files) {
      ResidentFile& most = files[path];
      most.bytes = std::max(most.bytes, pages.bytes);
      most.held_bytes =
          std::max(most.held_bytes, rereadable_devices_.Has(pages.device)
                                        ? pages.held_bytes
                                        : pages.bytes);
    }
    for (const auto& [device, bytes] : parts->device_bytes) {
      mapped_bytes_by_device[device] += bytes;
    }
    sum.swapped_bytes += parts->swapped_bytes;
    sum.page_table_bytes += parts->page_table_bytes;
    sum.kernel_stack_bytes += ThreadCount(process_id) * kKernelStackBytes;
  }
  for (const auto& [path, pages] : files) {
    sum.file_bytes += pages.bytes;
    sum.droppable_bytes += pages.bytes - pages.held_bytes;
  }
  sum.memory_file_bytes = memory_files_.UnmappedBytes(mapped_bytes_by_device);
  return sum;
}

// The processes in `process_ids` are those that the result is of.
SharedOnce ResidentWatch::ReadSharesOfOneMoment(
    std::set<int>* process_ids) const {
  SharedOnce sum;
  *process_ids = ProcessesAndChildren(process_ids_);
  for (int i = 0; i < kMaxReadings && !sum.is_of_one_moment; ++i) {
    sum = ReadShares(*process_ids);
    std::set<int> after = ProcessesAndChildren(process_ids_);
    sum.is_of_one_moment = *process_ids == after;
    if (!sum.is_of_one_moment) *process_ids = std::move(after);
  }
  return sum;
}

void ResidentWatch::UpdateShares(int64_t look_bytes, int64_t file_look_bytes) {
  const int64_t begin_ns = ThreadProcessorTimeNs();
  std::set<int> process_ids;
  const SharedOnce sum = ReadSharesOfOneMoment(&process_ids);
  if (sum.all_bytes() <= shared_once_.all_bytes() &&
      sum.held_bytes() <= held_once_.held_bytes()) {
    next_update_ns_ =
        MonotonicTimeNs() + kRestFactor * (ThreadProcessorTimeNs() - begin_ns);
  }
  if (sum.is_of_one_moment) {
    told_process_ids_ = std::move(process_ids);
    told_held_file_bytes_ = sum.file_bytes - sum.droppable_bytes;
    shared_trigger_.HasRead(sum.all_bytes(), look_bytes);
    // The sample did not count file pages yet before much could be dropped.
    held_trigger_.HasRead(sum.held_bytes(),
                          has_droppable_
                              ? HeldLookBytes(look_bytes, file_look_bytes)
                              : sum.held_bytes());
  }
  has_droppable_ |= sum.droppable_bytes >= kLeastDroppableBytes;
  KeepLarger(sum, &SharedOnce::all_bytes, &shared_once_);
  KeepLarger(sum, &SharedOnce::held_bytes, &held_once_);
}

// The processes together need no more than the sum of their resident sets.
// Shared pages do not grow with the sum, so growth is compared with what the
// processes need.
bool ResidentWatch::MayBeNewPeak(int64_t look_bytes,
                                 int64_t file_look_bytes) const {
  const int64_t peak_bytes = KnownPeak(shared_once_, &SharedOnce::all_bytes);
  const int64_t held_peak_bytes =
      KnownPeak(held_once_, &SharedOnce::held_bytes);
  const int64_t held_look_bytes = HeldLookBytes(look_bytes, file_look_bytes);
  if (process_ids_ != told_process_ids_) {
    return look_bytes > peak_bytes ||
           (has_droppable_ && held_look_bytes > held_peak_bytes);
  }
  return shared_trigger_.MayBeNewPeak(look_bytes, peak_bytes) ||
         (has_droppable_ &&
          held_trigger_.MayBeNewPeak(held_look_bytes, held_peak_bytes));
}

void ResidentWatch::Look(const std::set<int>& process_ids) {
  images_ = Images();
  for (const int process_id : process_ids) {
    images_.try_emplace(process_id, kNoImage);
  }
  int64_t sum_bytes = 0;
  int64_t file_look_bytes = 0;
  process_ids_.clear();
  for (const auto& [process_id, image] : images_) {
    const int64_t bytes = ResidentBytes(process_id);
    if (has_droppable_) file_look_bytes += FileBytes(process_id);
    if (bytes > 0) process_ids_.insert(process_id);
    peak_process_bytes_ = std::max(peak_process_bytes_, bytes);
    sum_bytes += bytes;
    if (image == kNoImage) continue;
    const std::pair<int, int> key = {process_id, image};
    const auto known = peaks_.find(key);
    const int64_t read_bytes =
        known == peaks_.end() ? 0 : known->second.parts.resident_bytes;
    int64_t& last_bytes = last_bytes_[key];
    if (HasGrown(bytes, last_bytes,
                 std::max(read_bytes, bytes_without_agent_[key]))) {
      ReadParts(process_id, image);
    }
    last_bytes = bytes;
  }
  peak_sum_bytes_ = std::max(peak_sum_bytes_, sum_bytes);
  memory_files_.Look();
  const int64_t look_bytes = sum_bytes + memory_files_.grown_bytes();
  if (sum_bytes > 0 && MonotonicTimeNs() >= next_update_ns_ &&
      MayBeNewPeak(look_bytes, file_look_bytes)) {
    UpdateShares(look_bytes, file_look_bytes);
  }
  shared_trigger_.EndSample(look_bytes);
  held_trigger_.EndSample(HeldLookBytes(look_bytes, file_look_bytes));
}

std::vector<ResidentPeak> ResidentWatch::peaks() const {
  std::vector<ResidentPeak> peaks;
  for (const auto& [image, peak] : peaks_) peaks.push_back(peak);
  return peaks;
}

}  // namespace footprint
