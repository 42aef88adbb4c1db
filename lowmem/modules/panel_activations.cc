#include "footprint/lowmem/modules/panel_activations.h"

#include <algorithm>
#include <cstddef>
#include <new>

namespace footprint {
namespace {

constexpr std::align_val_t kLine{64};

}  // namespace

void PanelActivations::Free::operator()(float* memory) const {
  ::operator delete(memory, kLine);
}

PanelActivations::PanelActivations(int64_t tokens, int64_t features)
    : tokens_(tokens), features_(features) {
  const size_t bytes = static_cast<size_t>(size()) * sizeof(float);
  data_.reset(static_cast<float*>(::operator new(bytes, kLine)));
  std::fill_n(data_.get(), size(), 0.0f);
}

PanelActivations PanelActivations::FromRows(absl::Span<const float> rows,
                                            int64_t features) {
  PanelActivations activations(
      features == 0 ? 0 : static_cast<int64_t>(rows.size()) / features,
      features);
  for (int64_t token = 0; token < activations.tokens(); ++token) {
    for (int64_t feature = 0; feature < features; ++feature) {
      activations.At(token, feature) = rows[token * features + feature];
    }
  }
  return activations;
}

std::vector<float> PanelActivations::ToRows() const {
  std::vector<float> rows;
  rows.reserve(tokens_ * features_);
  for (int64_t token = 0; token < tokens_; ++token) {
    for (int64_t feature = 0; feature < features_; ++feature) {
      rows.push_back(At(token, feature));
    }
  }
  return rows;
}

}  // namespace footprint
