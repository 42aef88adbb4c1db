#include "footprint/lowmem/panel_activations.h"

#include <algorithm>
#include <cstddef>
#include <new>

namespace footprint {
namespace {

constexpr size_t kLineBytes = 64;

}  // namespace

PanelActivations::PanelActivations(int64_t tokens, int64_t features)
    : tokens_(tokens), features_(features) {
  // A panel's row is a cache line, so whole lines they are.
  const size_t bytes =
      std::max<size_t>(kLineBytes, static_cast<size_t>(size()) * sizeof(float));
  data_.reset(static_cast<float*>(std::aligned_alloc(kLineBytes, bytes)));
  if (data_ == nullptr) throw std::bad_alloc();
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
