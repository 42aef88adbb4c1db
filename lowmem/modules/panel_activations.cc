#include "footprint/lowmem/modules/panel_activations.h"

#include <algorithm>

namespace footprint {
PanelActivations::PanelActivations(int64_t tokens, int64_t features)
    : tokens_(tokens), features_(features), data_(AllocateLineFloats(size())) {
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
