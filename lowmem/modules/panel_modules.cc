#include "footprint/lowmem/modules/panel_modules.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/kernels/token_kernels.h"
#include "footprint/lowmem/kernels/token_panel.h"

namespace footprint {
namespace {

absl::Status CheckWidth(const Module& module, const PanelActivations& input,
                        int64_t features) {
  if (input.features() == features) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("an input of ", input.features(), " features for a ",
                   module.class_name(), " of ", features));
}

PanelActivations Copy(const PanelActivations& input) {
  PanelActivations copy(input.tokens(), input.features());
  std::copy_n(input.data(), input.size(), copy.data());
  return copy;
}

}  // namespace

LinearModule::LinearModule(int64_t inputs, int64_t outputs, bool has_bias)
    : PanelModule("Linear"),
      weight_(AddParameter("weight", {outputs, inputs})),
      bias_(has_bias ? AddParameter("bias", {outputs}) : nullptr) {}

absl::StatusOr<PanelActivations> LinearModule::Run(
    const PanelActivations& input) {
  const absl::Status status = CheckWidth(*this, input, weight_->columns());
  if (!status.ok()) return status;
  const absl::StatusOr<ModuleLease> lease = Lease();
  if (!lease.ok()) return lease.status();
  PanelActivations output(input.tokens(), weight_->rows());
  ProductEpilogue epilogue;
  if (bias_ != nullptr) epilogue.bias = bias_->data();
  MultiplyPanels({weight_->data(), weight_->columns(), 1}, weight_->rows(),
                 weight_->columns(), input.View(), input.panels(), epilogue,
                 output.Output());
  return output;
}

LayerNormModule::LayerNormModule(int64_t features, float epsilon)
    : PanelModule("LayerNorm"),
      weight_(AddParameter("weight", {features})),
      bias_(AddParameter("bias", {features})),
      epsilon_(epsilon) {}

absl::StatusOr<PanelActivations> LayerNormModule::Run(
    const PanelActivations& input) {
  const absl::Status status = CheckWidth(*this, input, weight_->columns());
  if (!status.ok()) return status;
  const absl::StatusOr<ModuleLease> lease = Lease();
  if (!lease.ok()) return lease.status();
  PanelActivations output(input.tokens(), input.features());
  LayerNorm(input.data(), input.features(), input.panels(),
            {weight_->data(), bias_->data(), epsilon_}, output.data());
  return output;
}

ActivationModule::ActivationModule(Activation activation)
    : PanelModule("Activation"), activation_(activation) {}

absl::StatusOr<PanelActivations> ActivationModule::Run(
    const PanelActivations& input) {
  PanelActivations output = Copy(input);
  Activate(activation_, output.size(), output.data());
  return output;
}

SequentialModule::SequentialModule() : PanelModule("Sequential") {}

void SequentialModule::Add(std::unique_ptr<PanelModule> module) {
  AddChild(absl::StrCat(modules_.size()), module.get());
  modules_.push_back(std::move(module));
}

absl::StatusOr<PanelActivations> SequentialModule::Run(
    const PanelActivations& input) {
  if (modules_.empty()) return Copy(input);
  absl::StatusOr<PanelActivations> states = modules_[0]->Run(input);
  for (size_t i = 1; i < modules_.size() && states.ok(); ++i) {
    states = modules_[i]->Run(*states);
  }
  return states;
}

}  // namespace footprint
