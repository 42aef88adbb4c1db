// Modules to build models from, with the parameters and names of PyTorch's
// modules.
//
//   footprint::SequentialModule model;
//   model.Add(std::make_unique<footprint::LinearModule>(64, 256));
//   model.Add(std::make_unique<footprint::ActivationModule>(
//       footprint::Activation::kGelu));
//   model.Add(std::make_unique<footprint::LinearModule>(256, 64));
//   auto loaded = footprint::LazyLoading(&model, "model.safetensors", {});
//   auto output = model.Run(input);
//
// Run leases the module's own parameters while it uses them. Each module is
// deterministic: its bits depend neither on where parameters are nor on when
// they were loaded. See module.h for lifetimes and threads.
//
// Memory: the caller owns the input, and the output is new. LinearModule and
// LayerNormModule lease their parameters; a SequentialModule holds two
// activations at a time besides its input. Time: that of the kernels of
// matrix_product.h and token_kernels.h, on the calling thread.
//
// The error is InvalidArgument if the input has another number of features than
// the module takes; the message names both. Other errors are those of module.h.

#ifndef FOOTPRINT_LOWMEM_MODULES_PANEL_MODULES_H_
#define FOOTPRINT_LOWMEM_MODULES_PANEL_MODULES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/modules/module.h"
#include "footprint/lowmem/modules/panel_activations.h"

namespace footprint {

// Class "Linear" with weight [outputs, inputs], and bias [outputs] unless it
// has none.
class LinearModule : public PanelModule {
 public:
  LinearModule(int64_t inputs, int64_t outputs, bool has_bias = true);

  absl::StatusOr<PanelActivations> Run(const PanelActivations& input) override;

 private:
  const Parameter* const weight_;
  const Parameter* const bias_;  // null if it has no bias
};

// Class "LayerNorm" with weight and bias [features].
class LayerNormModule : public PanelModule {
 public:
  explicit LayerNormModule(int64_t features, float epsilon = 1e-5f);

  absl::StatusOr<PanelActivations> Run(const PanelActivations& input) override;

 private:
  const Parameter* const weight_;
  const Parameter* const bias_;
  const float epsilon_;
};

// Class "Activation" without parameters.
class ActivationModule : public PanelModule {
 public:
  explicit ActivationModule(Activation activation);

  absl::StatusOr<PanelActivations> Run(const PanelActivations& input) override;

 private:
  const Activation activation_;
};

// Class "Sequential": runs modules named "0", "1", and so on, one after the
// other. Without modules it copies its input.
class SequentialModule : public PanelModule {
 public:
  SequentialModule();

  // Adds a module. Must be called before LazyLoading.
  void Add(std::unique_ptr<PanelModule> module);

  absl::StatusOr<PanelActivations> Run(const PanelActivations& input) override;

 private:
  std::vector<std::unique_ptr<PanelModule>> modules_;
};

}  // namespace footprint

// Tested by lazy_loading_test.

#endif  // FOOTPRINT_LOWMEM_MODULES_PANEL_MODULES_H_
