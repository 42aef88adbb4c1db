// Parameters in memory only while the module they belong to is used.
//
//   Classifier model;  // a tree of modules; see module.h
//   footprint::LazyLoadingOptions options;
//   options.skip_modules = {"head"};  // stays in memory
//   absl::StatusOr<std::unique_ptr<footprint::LazyModel>> loaded =
//       footprint::LazyLoading(&model, "model.safetensors", options);
//   auto output = model.Run(ids);     // each module loads itself on first use
//   absl::Status unchanged = (*loaded)->CheckFile();
//
// A module's parameters are the checkpoint's tensors of its name: those of
// `encoder.0.expand` are `encoder.0.expand.weight` and `encoder.0.expand.bias`.
// Loaded modules are released when their last lease ends. Modules that are no
// targets are loaded at once and stay.
//
// Reading ahead: while one module computes, a thread loads those that came
// after it last time (the first time, those that the tree has after it), around
// again after the last. It stops when `prefetch_bytes` are loaded that nobody
// has used yet, and goes on as soon as one is used. A module that was loaded
// and turns out not to be next is given up. Results do not depend on it.
//
// The model must outlive what LazyLoading returns, which must outlive every
// Run and lease. Methods may be called from any thread; so may Run of different
// or the same modules, which share what is loaded.
//
// Peak memory: the kept parameters, the most that is leased at one moment, and
// at most prefetch_bytes; as floats, each module's up to a cache line, whatever
// the file holds. `peak_bytes` says what it was. Where storage is kResident or
// kMmap, tensors that are floats already, aligned and unpacked are used where
// they lie and count nothing (kResident holds the file besides; what was used
// of kMmap stays mapped until the system wants it back). For models with a hard
// budget of bytes, weights in tiles, see encoder.h. Time: each use reads the
// module's bytes, unless it was read ahead.
//
// NotFound: a module, class or tensor that is not there; the text has the
// closest names. InvalidArgument: options that contradict each other or choose
// nothing, a tree with two modules of one name, a tensor of another shape or
// not of F32, BF16 or F16. FailedPrecondition: the model is loaded already.
// Otherwise WeightStore's errors.

#ifndef FOOTPRINT_LOWMEM_MODULES_LAZY_LOADING_H_
#define FOOTPRINT_LOWMEM_MODULES_LAZY_LOADING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/lowmem/modules/module.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

struct LazyLoadingOptions {
  // Which modules are loaded when used, by Module::class_name or by name with
  // all that is below it; not both. Neither: all of them.
  std::vector<std::string> target_classes;
  std::vector<std::string> target_modules;
  // These, with all that is below them, stay in memory even so.
  std::vector<std::string> skip_modules;
  WeightBackend storage = WeightBackend::kPread;
  // The most that is read ahead of its use; 0: nothing is. A module that is
  // larger is not read ahead. Of no use for kResident and kMmap.
  int64_t prefetch_bytes = 0;
  // The text before every name in the checkpoint, such as "bert.".
  std::string prefix;
};

class LazyModel {
 public:
  virtual ~LazyModel() = default;

  // Returns the bytes of all parameters, were they all in memory.
  virtual int64_t parameter_bytes() const = 0;
  // Returns the bytes of the parameters that stay.
  virtual int64_t kept_bytes() const = 0;
  // Return the bytes that are kept, leased and read ahead: now, and the most
  // there were.
  virtual int64_t held_bytes() const = 0;
  virtual int64_t peak_bytes() const = 0;
  // Leases that found their module read ahead, of all that loaded one.
  virtual int64_t prefetched_loads() const = 0;
  virtual int64_t loads() const = 0;
  virtual WeightCounters counters() const = 0;
  // FailedPrecondition if the file changed: to be asked before a result that
  // used kMmap is believed.
  virtual absl::Status CheckFile() const = 0;
};

absl::StatusOr<std::unique_ptr<LazyModel>> LazyLoading(
    Module* model, absl::string_view checkpoint,
    const LazyLoadingOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODULES_LAZY_LOADING_H_
