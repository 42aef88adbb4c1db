#include "footprint/profiling/resident/resident_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/machine/monotonic_time.h"
#include "footprint/profiling/resident/allocator_state.h"

namespace footprint {
namespace {

// Bytes that the kernel takes for each thread.
constexpr int64_t kKernelStackBytes = 16 << 10;

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

// By enough that its parts are worth reading again: while it grows, at each
// fiftieth; where it stays, at less, so that a peak that lasts is met closely.
bool HasGrown(int64_t now_bytes, int64_t last_bytes, int64_t read_bytes) {
  const bool stays = now_bytes - last_bytes < now_bytes / 2000;
  return now_bytes > read_bytes + read_bytes / (stays ? 400 : 50);
}

}  // namespace

ResidentWatch::ResidentWatch(std::string record_folder)
    : folder_(std::move(record_folder)) {}

// "1234.0.record".
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

void ResidentWatch::ReadParts(int process_id, int image) {
  const absl::StatusOr<AllocatorState> state = ReadAllocatorState(
      absl::StrCat(folder_, "/", process_id, ".", image, ".allocator"));
  absl::StatusOr<ResidentSet> parts = ReadResidentSet(
      process_id, state.ok() ? state->ranges : std::vector<AddressRange>(),
      folder_);
  // It may have ended, or it is another user's.
  if (!parts.ok()) return;
  ResidentPeak& peak = peaks_[{process_id, image}];
  if (peak.parts.explained_bytes() >= parts->explained_bytes()) return;
  peak = {process_id, image, MonotonicTimeNs(), *parts, {}};
  if (state.ok()) peak.books = state->books;
}

void ResidentWatch::AddUp(const std::map<int, int>& images) {
  SharedOnce sum;
  std::map<std::string, int64_t> files;
  for (const auto& [process_id, image] : images) {
    const absl::StatusOr<ResidentSet> parts =
        ReadResidentSet(process_id, {}, folder_);
    if (!parts.ok()) continue;
    // The process may have grown since its mappings were listed.
    sum.resident_sum_bytes += parts->explained_bytes();
    sum.anonymous_bytes += parts->anonymous_bytes;
    for (const auto& [path, bytes] : parts->file_page_bytes) {
      files[path] = std::max(files[path], bytes);
    }
    sum.swapped_bytes += parts->swapped_bytes;
    sum.page_table_bytes += parts->page_table_bytes;
    sum.kernel_stack_bytes += ThreadCount(process_id) * kKernelStackBytes;
  }
  for (const auto& [path, bytes] : files) sum.file_bytes += bytes;
  // Some may have ended since they were seen to be large.
  if (sum.resident_sum_bytes > shared_once_.resident_sum_bytes) {
    shared_once_ = sum;
  }
}

void ResidentWatch::Look() {
  const std::map<int, int> images = Images();
  int64_t sum_bytes = 0;
  process_ids_.clear();
  for (const auto& [process_id, image] : images) {
    const int64_t bytes = ResidentBytes(process_id);
    if (bytes > 0) process_ids_.insert(process_id);
    sum_bytes += bytes;
    const auto known = peaks_.find({process_id, image});
    int64_t& last_bytes = last_bytes_[{process_id, image}];
    if (HasGrown(
            bytes, last_bytes,
            known == peaks_.end() ? 0 : known->second.parts.resident_bytes)) {
      ReadParts(process_id, image);
    }
    last_bytes = bytes;
  }
  peak_sum_bytes_ = std::max(peak_sum_bytes_, sum_bytes);
  if (HasGrown(sum_bytes, last_sum_bytes_, shared_once_.resident_sum_bytes)) {
    AddUp(images);
  }
  last_sum_bytes_ = sum_bytes;
}

std::vector<ResidentPeak> ResidentWatch::peaks() const {
  std::vector<ResidentPeak> peaks;
  for (const auto& [image, peak] : peaks_) peaks.push_back(peak);
  return peaks;
}

}  // namespace footprint
