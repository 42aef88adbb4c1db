#include "footprint/gates/trials/memory_admission.h"

#include <algorithm>

namespace footprint {

MemoryAdmission::Share MemoryAdmission::Await(int64_t bytes) {
  const int64_t wanted = std::clamp<int64_t>(bytes, 0, total_bytes_);
  MutexLock lock(&mutex_);
  const int64_t number = next_number_++;
  while (served_number_ != number || free_bytes_ < wanted) {
    changed_.Wait(&mutex_);
  }
  free_bytes_ -= wanted;
  ++served_number_;
  changed_.NotifyAll();
  return Share(this, wanted);
}

int64_t MemoryAdmission::waiting_count() {
  MutexLock lock(&mutex_);
  return next_number_ - served_number_;
}

void MemoryAdmission::Return(int64_t bytes) {
  MutexLock lock(&mutex_);
  free_bytes_ += bytes;
  changed_.NotifyAll();
}

}  // namespace footprint
