// Keeps the handles of a C interface from their creation until they are freed,
// so that a call with any other pointer can be refused instead of followed.
//
//   LiveHandles<footprint_network> networks;
//   footprint_network* handle = networks.Add(std::move(owned));
//   networks.Find(handle);    // handle
//   networks.Find(nullptr);   // null
//   networks.Remove(handle);  // destroys it
//
// Owns the handles, and destroys those that are left with itself. Thread-safe,
// but what a handle points to is not guarded: nothing may use a handle that
// Find returned once Remove is called for it. A new handle may have the address
// of one that was freed. Memory: a map's entry for each handle.

#ifndef FOOTPRINT_TRAINER_MANAGER_C_LIVE_HANDLES_H_
#define FOOTPRINT_TRAINER_MANAGER_C_LIVE_HANDLES_H_

#include <map>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "footprint/base/threads/mutex.h"

namespace footprint {

template <typename Handle>
class LiveHandles {
 public:
  // Returns the address of the new handle, which Remove destroys.
  Handle* Add(std::unique_ptr<Handle> handle) {
    Handle* const address = handle.get();
    MutexLock lock(&mutex_);
    handles_[address] = std::move(handle);
    return address;
  }

  // Returns the handle, or null if no such handle lives.
  Handle* Find(const Handle* handle) {
    MutexLock lock(&mutex_);
    const auto found = handles_.find(handle);
    return found == handles_.end() ? nullptr : found->second.get();
  }

  // Destroys the handle; does nothing if no such handle lives.
  void Remove(const Handle* handle) {
    std::unique_ptr<Handle> owned;
    MutexLock lock(&mutex_);
    const auto found = handles_.find(handle);
    if (found == handles_.end()) return;
    owned = std::move(found->second);
    handles_.erase(found);
  }

 private:
  Mutex mutex_;
  std::map<const Handle*, std::unique_ptr<Handle>> handles_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_C_LIVE_HANDLES_H_
