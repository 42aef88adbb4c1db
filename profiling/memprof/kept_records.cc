#include "footprint/profiling/memprof/kept_records.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/machine/monotonic_time.h"

namespace footprint {
namespace {

constexpr int64_t kNsOfMs = 1'000'000;

size_t MostFiles() {
  constexpr rlim_t kMost = 500;
  constexpr rlim_t kLeastLimit = 64;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < kLeastLimit) {
    return 0;
  }
  return static_cast<size_t>(std::min(kMost, limit.rlim_cur / 4));
}

// The program may have put anything there, such as a pipe that nobody writes.
FileDescriptor OpenRecord(int folder, const char* name) {
  FileDescriptor file(
      openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts;
  const bool is_file = file.is_open() && fstat(file.get(), &facts) == 0 &&
                       S_ISREG(facts.st_mode);
  return is_file ? std::move(file) : FileDescriptor();
}

// Returns "1234.0." for "1234.0.sites".
std::string ImageOf(const std::string& name) {
  return name.substr(0, name.rfind('.') + 1);
}

}  // namespace

KeptRecords::KeptRecords(std::string folder)
    : folder_(std::move(folder)), most_files_(MostFiles()) {
  struct stat facts;
  if (stat(folder_.c_str(), &facts) == 0) {
    device_ = facts.st_dev;
    inode_ = facts.st_ino;
  }
  if (most_files_ == 0) return;
  creations_ = FileDescriptor(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (creations_.is_open() &&
      inotify_add_watch(creations_.get(), folder_.c_str(),
                        IN_CREATE | IN_ONLYDIR) < 0) {
    creations_ = FileDescriptor();
  }
}

void KeptRecords::Look() {
  if (most_files_ == 0) return;
  DIR* const directory = opendir(folder_.c_str());
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (files_.size() >= most_files_) break;
    // The preloaded objects are no records.
    if (absl::StartsWith(name, ".") || absl::EndsWith(name, ".so") ||
        files_.count(name) > 0) {
      continue;
    }
    FileDescriptor file = OpenRecord(dirfd(directory), name.c_str());
    if (file.is_open()) files_.emplace(name, std::move(file));
  }
  closedir(directory);
}

void KeptRecords::Wait(int milliseconds, const FileDescriptor& process) {
  const int64_t end_ns = MonotonicTimeNs() + milliseconds * kNsOfMs;
  // poll passes over a descriptor that is not open.
  pollfd watched[] = {{process.get(), POLLIN, 0},
                      {creations_.get(), POLLIN, 0}};
  for (int left_ms = milliseconds; left_ms > 0;
       left_ms = static_cast<int>((end_ns - MonotonicTimeNs()) / kNsOfMs)) {
    if (poll(watched, 2, left_ms) <= 0 || watched[1].revents == 0) break;
    char events[4096];
    while (read(creations_.get(), events, sizeof(events)) > 0) {
    }
    Look();
    if (watched[0].revents != 0) break;
  }
  if (!creations_.is_open()) Look();
}

bool KeptRecords::IsFolderRemoved() const {
  struct stat facts;
  return stat(folder_.c_str(), &facts) != 0 || facts.st_dev != device_ ||
         facts.st_ino != inode_;
}

void KeptRecords::ForEachImage(absl::FunctionRef<void()> read) const {
  if (mkdir(folder_.c_str(), 0700) != 0) return;
  for (auto begin = files_.begin(); begin != files_.end();) {
    const std::string image = ImageOf(begin->first);
    auto end = begin;
    for (; end != files_.end() && ImageOf(end->first) == image; ++end) {
      // A file without a name cannot get one again, but can be opened.
      (void)!symlink(absl::StrCat("/proc/self/fd/", end->second.get()).c_str(),
                     PathOf(end->first).c_str());
    }
    read();
    for (; begin != end; ++begin) unlink(PathOf(begin->first).c_str());
  }
}

std::string KeptRecords::PathOf(const std::string& name) const {
  return absl::StrCat(folder_, "/", name);
}

}  // namespace footprint
