#include "footprint/gates/trials/bundle_pages.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"

namespace footprint {
namespace {

// A page may be on its way to the disk, in a list of another processor, or held
// by the kernel's search for free memory. All of these end without help.
constexpr absl::Duration kFirstPause = absl::Milliseconds(1);
constexpr absl::Duration kLongestPause = absl::Milliseconds(100);
constexpr absl::Duration kPatience = absl::Seconds(10);
// From this number of files on, one flush of the whole file system costs less
// than one for each file, although it also writes what others have changed.
// Only images have as many.
constexpr int64_t kManyFiles = 10000;
constexpr unsigned kWriteAndWait = SYNC_FILE_RANGE_WAIT_BEFORE |
                                   SYNC_FILE_RANGE_WRITE |
                                   SYNC_FILE_RANGE_WAIT_AFTER;

// Returns the number of a file's pages that are in memory.
absl::StatusOr<int64_t> CountCachedPages(const std::string& path, int file,
                                         int64_t size) {
  constexpr char kFailure[] = "its pages in memory cannot be counted";
  void* const memory =
      mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return FileError(errno, path, kFailure);
  const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> pages(
      static_cast<size_t>((size + page_bytes - 1) / page_bytes));
  const int error =
      mincore(memory, static_cast<size_t>(size), pages.data()) == 0 ? 0 : errno;
  munmap(memory, static_cast<size_t>(size));
  if (error != 0) return FileError(error, path, kFailure);
  return std::count_if(pages.begin(), pages.end(),
                       [](unsigned char each) { return (each & 1) != 0; });
}

bool KeepsFilesInMemory(int file) {
  struct statfs about = {};
  return fstatfs(file, &about) == 0 &&
         (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC);
}

absl::StatusOr<FileDescriptor> OpenFile(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) return FileError(errno, path, "cannot be read");
  return file;
}

// Writes all changed pages of the folder's file system at once, so that the
// disk need not be waited for once for each of many small files.
absl::Status WriteFileSystem(const std::string& folder) {
  const FileDescriptor opened(
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return opened.is_open() && syncfs(opened.get()) == 0
             ? absl::OkStatus()
             : FileError(errno, folder, "cannot be written to the disk");
}

// Drops a file's clean pages, and makes the kernel begin to write the others.
absl::Status BeginEviction(const std::string& path) {
  const absl::StatusOr<FileDescriptor> file = OpenFile(path);
  if (!file.ok()) return file.status();
  posix_fadvise(file->get(), 0, 0, POSIX_FADV_DONTNEED);
  return absl::OkStatus();
}

// Writes the file's changed pages and drops those that are clean. The file need
// not survive a crash of this machine, so this waits for the journal only if
// `wait_for_journal` is set.
absl::Status DropPages(const std::string& path, int file,
                       bool wait_for_journal) {
  if (wait_for_journal || sync_file_range(file, 0, 0, kWriteAndWait) != 0) {
    if (fdatasync(file) != 0) {
      return FileError(errno, path, "cannot be written to the disk");
    }
  }
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  return absl::OkStatus();
}

absl::Status LiesInMemory(const std::string& path) {
  return absl::FailedPreconditionError(absl::StrCat(
      path,
      " lies on a tmpfs or ramfs, which keeps its pages in memory, where they "
      "would count for no run; give the trial a work folder on a disk, for "
      "example TMPDIR=/var/tmp or the server's --store"));
}

absl::Status StaysInMemory(const std::string& path, int64_t pages) {
  return absl::FailedPreconditionError(absl::StrCat(
      path, " still has ", pages, " pages in memory after ",
      absl::FormatDuration(kPatience),
      ", where they would count for no run: another process uses the file, or "
      "its file system keeps it in memory; give the trial a work folder of its "
      "own on a disk, for example TMPDIR=/var/tmp or the server's --store"));
}

// Drops the file's pages until none is left, with growing pauses.
absl::Status FinishEviction(const std::string& path) {
  const absl::StatusOr<FileDescriptor> file = OpenFile(path);
  if (!file.ok()) return file.status();
  struct stat about = {};
  if (fstat(file->get(), &about) != 0) {
    return FileError(errno, path, "cannot be read");
  }
  if (about.st_size == 0) return absl::OkStatus();
  if (KeepsFilesInMemory(file->get())) {
    return LiesInMemory(path);
  }
  absl::Duration pause = kFirstPause;
  absl::Duration waited = absl::ZeroDuration();
  absl::StatusOr<int64_t> pages =
      CountCachedPages(path, file->get(), about.st_size);
  for (int i = 0; pages.ok() && *pages > 0 && waited < kPatience; ++i) {
    if (i > 0) {
      absl::SleepFor(pause);
      waited += pause;
      pause = std::min(2 * pause, kLongestPause);
    }
    const absl::Status status =
        DropPages(path, file->get(), /*wait_for_journal=*/i > 1);
    if (!status.ok()) return status;
    pages = CountCachedPages(path, file->get(), about.st_size);
  }
  if (!pages.ok()) return pages.status();
  return *pages == 0 ? absl::OkStatus() : StaysInMemory(path, *pages);
}

// Returns the number of files.
absl::StatusOr<int64_t> ForEachFile(
    const std::string& folder, absl::Status (*visit)(const std::string& path)) {
  int64_t file_count = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator each(folder, error);
  for (; !error && each != std::filesystem::recursive_directory_iterator();
       each.increment(error)) {
    if (each->is_symlink(error) || !each->is_regular_file(error)) continue;
    const absl::Status status = visit(each->path().string());
    if (!status.ok()) return status;
    ++file_count;
  }
  if (error) return FileError(error.value(), folder, "cannot be read");
  return file_count;
}

}  // namespace

absl::Status EvictFiles(const std::string& folder) {
  const absl::StatusOr<int64_t> file_count =
      ForEachFile(folder, [](const std::string&) { return absl::OkStatus(); });
  if (!file_count.ok()) return file_count.status();
  const absl::Status begun = *file_count >= kManyFiles
                                 ? WriteFileSystem(folder)
                                 : ForEachFile(folder, BeginEviction).status();
  return begun.ok() ? ForEachFile(folder, FinishEviction).status() : begun;
}

}  // namespace footprint
