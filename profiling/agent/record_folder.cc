#include "footprint/profiling/agent/record_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/profiling/sites/high_descriptor.h"

namespace footprint::profiling_internal {
namespace {

char folder_path[PATH_MAX];
int folder = -1;
dev_t folder_device;
ino_t folder_inode;

int OpenFolder() {
  return MoveUp(open(folder_path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

bool IsFolder(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && status.st_dev == folder_device &&
         status.st_ino == folder_inode;
}

}  // namespace

bool OpenRecordFolder(const char* path) {
  if (strlen(path) >= sizeof(folder_path)) return false;
  strcpy(folder_path, path);
  folder = OpenFolder();
  struct stat status;
  if (folder < 0 || fstat(folder, &status) != 0) return false;
  folder_device = status.st_dev;
  folder_inode = status.st_ino;
  return true;
}

int RecordFolder() {
  if (folder >= 0 && IsFolder(folder)) return folder;
  folder = OpenFolder();
  if (folder >= 0 && !IsFolder(folder)) {
    close(folder);
    folder = -1;
  }
  return folder;
}

bool FileMayHave(size_t size_bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= size_bytes;
}

}  // namespace footprint::profiling_internal
