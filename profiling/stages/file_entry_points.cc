// Defines open, close and related functions in front of the C library's, so
// that data files become stages and the start of an interpreter is noticed.
// Effects, results and errno are the C library's.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

#include <atomic>

#include "footprint/profiling/stages/file_stages.h"
#include "footprint/profiling/stages/import_stages.h"
#include "footprint/profiling/stages/stage_table.h"

namespace footprint::profiling_internal {
namespace {

// Finds the next function of this name, and keeps its address.
template <typename Function>
class NextFunction {
 public:
  constexpr explicit NextFunction(const char* name) : name_(name) {}

  Function* Get() {
    Function* function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function;
  }

 private:
  const char* const name_;
  std::atomic<Function*> function_{nullptr};
};

using Open = int(const char*, int, ...);
using OpenAt = int(int, const char*, int, ...);
using CheckedOpen = int(const char*, int);
using CheckedOpenAt = int(int, const char*, int);
using Create = int(const char*, mode_t);
using OpenStream = FILE*(const char*, const char*);

NextFunction<Open> next_open("open");
NextFunction<Open> next_open64("open64");
NextFunction<OpenAt> next_openat("openat");
NextFunction<OpenAt> next_openat64("openat64");
NextFunction<CheckedOpen> next_open_2("__open_2");
NextFunction<CheckedOpen> next_open64_2("__open64_2");
NextFunction<CheckedOpenAt> next_openat_2("__openat_2");
NextFunction<CheckedOpenAt> next_openat64_2("__openat64_2");
NextFunction<Create> next_creat("creat");
NextFunction<Create> next_creat64("creat64");
NextFunction<OpenStream> next_fopen("fopen");
NextFunction<OpenStream> next_fopen64("fopen64");
NextFunction<int(int)> next_close("close");
NextFunction<int(FILE*)> next_fclose("fclose");

// Looks the functions up early: in the child of a fork and in a signal handler,
// the dynamic loader may be locked.
__attribute__((constructor(102))) void FindFunctions() {
  next_open.Get();
  next_open64.Get();
  next_openat.Get();
  next_openat64.Get();
  next_open_2.Get();
  next_open64_2.Get();
  next_openat_2.Get();
  next_openat64_2.Get();
  next_creat.Get();
  next_creat64.Get();
  next_fopen.Get();
  next_fopen64.Get();
  next_close.Get();
  next_fclose.Get();
}

int NoteOpened(int file, const char* path) {
  ModuleMayBeRead(path);
  FileWasOpened(file, path);
  return file;
}

FILE* NoteOpened(FILE* stream, const char* path) {
  if (stream != nullptr) FileWasOpened(fileno(stream), path);
  return stream;
}

bool HasMode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace
}  // namespace footprint::profiling_internal

using namespace footprint::profiling_internal;  // NOLINT: of this file alone

// Reads the mode, which callers pass only if the flags require it.
#define FOOTPRINT_MODE(flags)                              \
  mode_t mode = 0;                                         \
  if (HasMode(flags)) {                                    \
    va_list arguments;                                     \
    va_start(arguments, flags);                            \
    mode = static_cast<mode_t>(va_arg(arguments, mode_t)); \
    va_end(arguments);                                     \
  }

extern "C" {

int open(const char* path, int flags, ...) {
  FOOTPRINT_MODE(flags)
  return NoteOpened(next_open.Get()(path, flags, mode), path);
}

int open64(const char* path, int flags, ...) {
  FOOTPRINT_MODE(flags)
  return NoteOpened(next_open64.Get()(path, flags, mode), path);
}

int openat(int folder, const char* path, int flags, ...) {
  FOOTPRINT_MODE(flags)
  return NoteOpened(next_openat.Get()(folder, path, flags, mode), path);
}

int openat64(int folder, const char* path, int flags, ...) {
  FOOTPRINT_MODE(flags)
  return NoteOpened(next_openat64.Get()(folder, path, flags, mode), path);
}

int __open_2(const char* path, int flags) {
  return NoteOpened(next_open_2.Get()(path, flags), path);
}

int __open64_2(const char* path, int flags) {
  return NoteOpened(next_open64_2.Get()(path, flags), path);
}

int __openat_2(int folder, const char* path, int flags) {
  return NoteOpened(next_openat_2.Get()(folder, path, flags), path);
}

int __openat64_2(int folder, const char* path, int flags) {
  return NoteOpened(next_openat64_2.Get()(folder, path, flags), path);
}

int creat(const char* path, mode_t mode) {
  return NoteOpened(next_creat.Get()(path, mode), path);
}

int creat64(const char* path, mode_t mode) {
  return NoteOpened(next_creat64.Get()(path, mode), path);
}

FILE* fopen(const char* path, const char* mode) {
  return NoteOpened(next_fopen.Get()(path, mode), path);
}

FILE* fopen64(const char* path, const char* mode) {
  return NoteOpened(next_fopen64.Get()(path, mode), path);
}

// The stage ends before another file can have the number, and before the thread
// may be cancelled.
int close(int file) {
  EndVisit(StageKind::kFile, TakeFileVisit(file));
  return next_close.Get()(file);
}

// Ends the stage after the stream's buffer is freed.
int fclose(FILE* stream) {
  const int error = errno;
  const int64_t visit = TakeFileVisit(fileno(stream));
  errno = error;
  const int result = next_fclose.Get()(stream);
  const int error_after = errno;
  EndVisit(StageKind::kFile, visit);
  errno = error_after;
  return result;
}

}  // extern "C"
