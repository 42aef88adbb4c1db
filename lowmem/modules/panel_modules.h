// Modules to build models of, with the parameters and names of PyTorch's.
//
//   footprint::SequentialModule model;
//   model.Add(std::make_unique<footprint::LinearModule>(64, 256));
//   model.Add(std::make_unique<footprint::ActivationModule>(
//       footprint::Activation::kGelu));
//   model.Add(std::make_unique<footprint::LinearModule>(256, 64));
//   auto loaded = footprint::LazyLoading(&model, "model.safetensors", {});
//   auto output = model.Run(input);
//
// Run leases the module's own parameters for as long as it uses them. Each is
// deterministic: its bits depend neither on where parameters are nor on when
// they were loaded. See module.h for lifetimes and threads.
//
// Memory: the input is the caller's, the output new, LinearModule and
// LayerNormModule lease what they have; a SequentialModule holds two
// activations at a time. Time: the kernels' of matrix_product.h and
// token_kernels.h, on the calling thread.
//
// InvalidArgument: an input of another width; the text names both. Otherwise
// module.h's.

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

// "Linear": weight [outputs, inputs], and bias [outputs] unless it has none.
class LinearModule : public PanelModule {
 public:
  LinearModule(int64_t inputs, int64_t outputs, bool has_bias = true);

  absl::StatusOr<PanelActivations> Run(const PanelActivations& input) override;

 private:
  const Parameter* const weight_;
  const Parameter* const bias_;  // null: it has none
};

// "LayerNorm": weight and bias, [features].
class LayerNormModule : public PanelModule {
 public:
  explicit LayerNormModule(int64_t features, float epsilon = 1e-5f);

  absl::StatusOr<PanelActivations> Run(const PanelActivations& input) override;

 private:
  const Parameter* const weight_;
  const Parameter* const bias_;
  const float epsilon_;
};

// "Activation": no parameters.
class ActivationModule : public PanelModule {
 public:
  explicit ActivationModule(Activation activation);

  absl::StatusOr<PanelActivations> Run(const PanelActivations& input) override;

 private:
  const Activation activation_;
};

// "Sequential": one module after the other, named "0", "1", and so on.
class SequentialModule : public PanelModule {
 public:
  SequentialModule();

  // Adds a module; called before LazyLoading.
  void Add(std::unique_ptr<PanelModule> module);

  absl::StatusOr<PanelActivations> Run(const PanelActivations& input) override;

 private:
  std::vector<std::unique_ptr<PanelModule>> modules_;
};

}  // namespace footprint

// Tested by lazy_loading_test.

#endif  // FOOTPRINT_LOWMEM_MODULES_PANEL_MODULES_H_
