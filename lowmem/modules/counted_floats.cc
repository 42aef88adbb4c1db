#include "footprint/lowmem/modules/counted_floats.h"

namespace footprint::lowmem_internal {

CountedFloats::CountedFloats(std::shared_ptr<ByteMeter> meter, int64_t count)
    : meter_(std::move(meter)),
      data_(AllocateLineFloats(count)),
      bytes_(LineFloatBytes(count)) {
  meter_->Add(bytes_);
}

CountedFloats::~CountedFloats() {
  if (data_ != nullptr) meter_->Add(-bytes_);
}

}  // namespace footprint::lowmem_internal
