#include "footprint/lowmem/modules/counted_floats.h"

namespace footprint::lowmem_internal {

CountedFloats::CountedFloats(std::shared_ptr<ByteMeter> meter, int64_t count)
    : meter_(std::move(meter)), data_(AllocateLineFloats(count)) {
  meter_->Add(data_.get_deleter().bytes);
}

CountedFloats::~CountedFloats() {
  if (data_ != nullptr) meter_->Add(-data_.get_deleter().bytes);
}

}  // namespace footprint::lowmem_internal
