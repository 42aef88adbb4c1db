// A descriptor of an open file, which is closed when the object is destroyed.
//
//   FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
//   if (!file.is_open()) return FileError(errno, path, "cannot be opened");
//   read(file.get(), bytes, size);
//
// Movable; thread-compatible. Memory: one int.

#ifndef FOOTPRINT_BASE_FILES_FILE_DESCRIPTOR_H_
#define FOOTPRINT_BASE_FILES_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace footprint {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  // Owns `descriptor` from now on. A negative number stands for no file.
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  // Swaps the two, so the old descriptor is closed only when `other` ends.
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor() {
    if (is_open()) close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }
  // Returns the descriptor, which this object keeps.
  int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_FILE_DESCRIPTOR_H_
