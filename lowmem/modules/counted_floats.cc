#include "footprint/lowmem/modules/counted_floats.h"

#include <cstddef>
#include <new>

#include "footprint/base/memory/alignment.h"

namespace footprint::lowmem_internal {
namespace {

constexpr std::align_val_t kLine{kLineBytes};

}  // namespace

int64_t CountedFloats::BytesOf(int64_t count) {
  return AlignUp(count * static_cast<int64_t>(sizeof(float)), kLineBytes);
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
