// Keeps parameters in memory only while their module is in use.
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
// A loaded module is released when its last lease ends. Modules that are not
// targets are loaded at once and stay in memory.
//
// Reading ahead: while one module computes, a thread loads the modules that
// came after it the last time (the first time, those after it in the tree);
// after the last module it starts over. It stops when `prefetch_bytes` of
// unused modules are loaded, and continues as soon as one is used. A module
// that was loaded and turns out not to be next is released. Results do not
// depend on reading ahead.
//
// The model must outlive the result of LazyLoading, which must outlive every
// Run and lease. Methods and the modules' Run may be called from any thread.
// Runs of one module at the same time share its loaded parameters.
//
// Peak memory: the kept parameters, the most that is leased at one time, and at
// most prefetch_bytes. All count as floats, whatever the file holds, each
// parameter rounded up to a cache line. `peak_bytes` returns the peak. With
// kResident or kMmap, tensors that are aligned, unpacked floats are used in
// place and count nothing (kResident also holds the file; with kMmap, pages
// that were used stay in memory until the system reclaims them). For models
// with a hard budget of bytes and weights in tiles, see encoder.h. Time: each
// use reads the module's bytes, unless it was read ahead.
//
// The error is NotFound if a module, class or tensor does not exist; the
// message has the closest names. The error is InvalidArgument if options
// contradict each other, if prefetch_bytes is negative, if what they name has
// no parameters, if a module of the tree is null, occurs twice, has an empty
// part in its name or the name of another part, or if a tensor has another
// shape or is not F32, BF16 or F16. The error is FailedPrecondition if the
// model is loaded already. The error is Unavailable if no thread can be started
// to read ahead. Other errors are WeightStore's.

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
  // The modules to load on use, chosen either by Module::class_name or by name,
  // which includes all modules below. If both are empty, all modules are.
  std::vector<std::string> target_classes;
  std::vector<std::string> target_modules;
  // Exceptions, which stay in memory with all modules below them.
  std::vector<std::string> skip_modules;
  WeightBackend storage = WeightBackend::kPread;
  // The most bytes to read ahead; 0 for none. Neither a larger module is read
  // ahead nor those after it, until it was used. Ignored for kResident and
  // kMmap.
  int64_t prefetch_bytes = 0;
  // The text before every name in the checkpoint, such as "bert.".
  std::string prefix;
};

class LazyModel {
 public:
  virtual ~LazyModel() = default;

  // Returns the bytes that all parameters would take in memory together.
  virtual int64_t parameter_bytes() const = 0;
  // Returns the bytes of the parameters that stay in memory.
  virtual int64_t kept_bytes() const = 0;
  // These return the bytes that are kept, leased and read ahead: now, and at
  // the peak.
  virtual int64_t held_bytes() const = 0;
  virtual int64_t peak_bytes() const = 0;
  // Returns how many of the loads below found their module read ahead.
  virtual int64_t prefetched_loads() const = 0;
  // Returns how many leases of whole modules began while their module had no
  // other lease. Modules that stay in memory and leases of rows do not count.
  virtual int64_t loads() const = 0;
  virtual WeightCounters counters() const = 0;
  // Returns FailedPrecondition if the file changed. Call this before trusting a
  // result that was computed with kMmap.
  virtual absl::Status CheckFile() const = 0;
};

// Binds the modules of `model`, which the caller owns, to the tensors of the
// file `checkpoint`, and loads the parameters that stay in memory.
absl::StatusOr<std::unique_ptr<LazyModel>> LazyLoading(
    Module* model, absl::string_view checkpoint,
    const LazyLoadingOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODULES_LAZY_LOADING_H_
