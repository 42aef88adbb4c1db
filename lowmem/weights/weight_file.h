// A weight file that is open, and the means to notice that it changed.
//
// Thread-safe once opened. Nothing is allocated after Open.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_FILE_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/safetensors/safetensors.h"

namespace footprint::lowmem_internal {

// A descriptor, closed at the end. Movable.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.value_) {
    other.value_ = -1;
  }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const { return value_; }

 private:
  int value_ = -1;
};

class WeightFile {
 public:
  static absl::StatusOr<WeightFile> Open(absl::string_view path);

  int descriptor() const { return descriptor_.get(); }
  const SafetensorsIndex& index() const { return index_; }
  const std::string& name() const { return index_.file_name(); }

  // FailedPrecondition if the file was removed, replaced, resized or written to
  // since Open. Asked after a read it vouches for what was read: the system
  // stamps a write before its bytes can be seen. One fstat.
  absl::Status CheckUnchanged() const;

 private:
  WeightFile() = default;

  Descriptor descriptor_;
  struct stat opened_ = {};
  SafetensorsIndex index_;
};

// Reads `size` bytes at `offset` into `destination`, again after interrupts and
// short reads; the file ending first is FailedPrecondition.
absl::Status ReadFully(int descriptor, const std::string& name, int64_t offset,
                       int64_t size, void* destination);

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_FILE_H_
