#include "footprint/base/files/read_write.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_error.h"

namespace footprint {
namespace {

// Calls `transfer(done, left)`, a system call that moves up to `left` bytes
// from the `done`th on, until all bytes are moved or it moves none. Returns the
// bytes moved, or -1 with errno.
template <typename Transfer>
int64_t MoveAll(int64_t size_bytes, const Transfer& transfer) {
  int64_t done = 0;
  while (done < size_bytes) {
    const ssize_t count =
        transfer(done, static_cast<size_t>(size_bytes - done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    done += count;
  }
  return done;
}

}  // namespace

int64_t ReadAt(int descriptor, int64_t offset_bytes, int64_t size_bytes,
               void* destination) {
  char* const begin = static_cast<char*>(destination);
  return MoveAll(size_bytes, [&](int64_t done, size_t left) {
    return pread(descriptor, begin + done, left, offset_bytes + done);
  });
}

int64_t ReadOn(int descriptor, int64_t size_bytes, void* destination) {
  char* const begin = static_cast<char*>(destination);
  return MoveAll(size_bytes, [&](int64_t done, size_t left) {
    return read(descriptor, begin + done, left);
  });
}

absl::Status ReadFully(int descriptor, absl::string_view path,
                       int64_t offset_bytes, int64_t size_bytes,
                       void* destination) {
  const int64_t got = ReadAt(descriptor, offset_bytes, size_bytes, destination);
  if (got == size_bytes) return absl::OkStatus();
  if (got < 0) {
    return FileError(errno, path,
                     absl::StrCat("cannot read ", size_bytes, " bytes at byte ",
                                  offset_bytes));
  }
  return absl::DataLossError(
      absl::StrCat(path, ": ends at byte ", offset_bytes + got, ", ",
                   size_bytes - got, " bytes too early; write the file again"));
}

bool WriteAt(int descriptor, int64_t offset_bytes, const void* data,
             int64_t size_bytes) {
  const char* const begin = static_cast<const char*>(data);
  return MoveAll(size_bytes, [&](int64_t done, size_t left) {
           return pwrite(descriptor, begin + done, left, offset_bytes + done);
         }) == size_bytes;
}

bool WriteOn(int descriptor, const void* data, int64_t size_bytes) {
  const char* const begin = static_cast<const char*>(data);
  return MoveAll(size_bytes, [&](int64_t done, size_t left) {
           return write(descriptor, begin + done, left);
         }) == size_bytes;
}

}  // namespace footprint
