// Loads, releases and reads ahead the modules of a LazyModel. See
// lazy_loading.h.
//
//   ModuleLoader loader(store, /*prefetch_bytes=*/64 << 20);
//   LoadedModule* const module = loader.Add("encoder", false, parameters);
//   absl::Status status = loader.Start({module});
//   if (status.ok()) status = module->Acquire();
//
// A module is absent, being read by one thread, or loaded. A thread that needs
// an absent module reads it, and one that needs a module that is being read
// waits. Owns what Add returns, and refers to the store and the parameters,
// which must outlive it. Thread-safe after Start. Memory: the loaded
// parameters, which the meter counts, and about 200 bytes a module.

#ifndef FOOTPRINT_LOWMEM_MODULES_MODULE_LOADER_H_
#define FOOTPRINT_LOWMEM_MODULES_MODULE_LOADER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/lowmem/modules/counted_floats.h"
#include "footprint/lowmem/modules/module.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

// A parameter, its tensor, and its place in its module's memory.
struct BoundParameter {
  Parameter* parameter = nullptr;
  Weight weight;
  const float* in_place = nullptr;  // its address; null: it must be read
  int64_t offset_floats = 0;
};

class ModuleLoader;

class LoadedModule final : public ParameterHolder {
 public:
  LoadedModule(ModuleLoader* loader, std::string name, bool is_kept,
               std::vector<BoundParameter> parameters);

  absl::Status Acquire() override;
  void Release() override;
  absl::StatusOr<RowsLease> AcquireRows(const Parameter& parameter, int64_t row,
                                        int64_t rows) override;

  // Returns the bytes that a lease of the whole module holds.
  int64_t bytes() const { return LineFloatBytes(floats_); }

 private:
  friend class ModuleLoader;
  enum class State { kAbsent, kReading, kLoaded };

  absl::Status Load();
  void Drop();
  absl::Status InModule(const absl::Status& status) const;

  ModuleLoader* const loader_;
  const std::string name_;
  const bool is_kept_;
  std::vector<BoundParameter> parameters_;
  int64_t floats_ = 0;  // of parameters that are not in place

  // The memory belongs to the thread that reads it, then to the leases.
  CountedFloats memory_;

  // The following fields are guarded by the loader's mutex, which Clang's
  // annotations cannot name here.
  State state_ = State::kAbsent;
  int leases_ = 0;
  bool is_read_ahead_ = false;  // and not used yet
  bool has_failed_ = false;     // while reading ahead
  LoadedModule* next_ = nullptr;
};

class ModuleLoader {
 public:
  ModuleLoader(WeightStore* store, int64_t prefetch_bytes)
      : store_(store), prefetch_bytes_(prefetch_bytes) {}
  ~ModuleLoader();

  // Adds a module before Start. The loader owns the returned module.
  LoadedModule* Add(std::string name, bool is_kept,
                    std::vector<BoundParameter> parameters);
  // Loads the modules that stay in memory, and starts reading ahead those of
  // `order`, which repeats. Returns Unavailable if no thread can start, or the
  // store's error if a module that stays cannot be read.
  absl::Status Start(const std::vector<LoadedModule*>& order);

  WeightStore& store() const { return *store_; }
  const std::shared_ptr<ByteMeter>& meter() const { return meter_; }
  int64_t loads() const;
  int64_t prefetched_loads() const;

 private:
  friend class LoadedModule;

  absl::Status Acquire(LoadedModule* module);
  void Release(LoadedModule* module);
  // Loads the module, and releases the lock meanwhile.
  absl::Status Read(LoadedModule* module) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<LoadedModule*> Upcoming() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropMispredicted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoLongerAhead(LoadedModule* module)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  LoadedModule* NextToRead() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReadAhead();

  WeightStore* const store_;
  const int64_t prefetch_bytes_;
  const std::shared_ptr<ByteMeter> meter_ = std::make_shared<ByteMeter>();
  std::deque<LoadedModule> modules_;

  mutable Mutex mutex_;
  CondVar read_;  // a module has been read
  CondVar wake_;  // there may be a module to read ahead
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  // The module that was leased last.
  LoadedModule* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int64_t ahead_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t loads_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t prefetched_loads_ ABSL_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_MODULES_MODULE_LOADER_H_
