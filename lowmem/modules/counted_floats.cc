#include "footprint/lowmem/modules/counted_floats.h"

#include <cstddef>
#include <new>

namespace footprint::lowmem_internal {
namespace {

constexpr int64_t kLineBytes = 64;
constexpr std::align_val_t kLine{kLineBytes};

}  // namespace

int64_t CountedFloats::BytesOf(int64_t count) {
  const int64_t bytes = count * static_cast<int64_t>(sizeof(float));
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

CountedFloats::CountedFloats(std::shared_ptr<ByteMeter> meter, int64_t count)
    : meter_(std::move(meter)), bytes_(BytesOf(count)) {
  data_ =
      static_cast<float*>(::operator new(static_cast<size_t>(bytes_), kLine));
  meter_->Add(bytes_);
}

CountedFloats::~CountedFloats() {
  if (data_ == nullptr) return;
  ::operator delete(data_, static_cast<size_t>(bytes_), kLine);
  meter_->Add(-bytes_);
}

}  // namespace footprint::lowmem_internal
