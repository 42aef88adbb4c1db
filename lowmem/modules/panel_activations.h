// Activations that flow between a model's modules: a number of features for
// each token, in the layout of token_panel.h, in memory of their own.
//
//   footprint::PanelActivations input =
//       footprint::PanelActivations::FromRows(rows, /*features=*/64);
//   absl::StatusOr<footprint::PanelActivations> output = model.Run(input);
//   float first = output->At(/*token=*/0, /*feature=*/0);
//
// Movable, thread-compatible. Memory: tokens, rounded up to a multiple of
// sixteen, times features floats. The padding is zero until something writes to
// it.

#ifndef FOOTPRINT_LOWMEM_MODULES_PANEL_ACTIVATIONS_H_
#define FOOTPRINT_LOWMEM_MODULES_PANEL_ACTIVATIONS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "footprint/base/memory/line_floats.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/token_panel.h"

namespace footprint {

class PanelActivations {
 public:
  // Makes activations that are zero.
  PanelActivations(int64_t tokens, int64_t features);
  // Makes activations from rows[token * features + feature]. The number of
  // values should be a multiple of `features`; a remainder is ignored.
  static PanelActivations FromRows(absl::Span<const float> rows,
                                   int64_t features);

  int64_t tokens() const { return tokens_; }
  int64_t features() const { return features_; }
  int64_t panels() const { return PanelCount(tokens_); }

  float& At(int64_t token, int64_t feature) {
    return data_.get()[Offset(token, feature)];
  }
  float At(int64_t token, int64_t feature) const {
    return data_.get()[Offset(token, feature)];
  }
  // Returns the rows in the form that FromRows takes.
  std::vector<float> ToRows() const;

  // Returns the panels for kernels. They begin at a cache line and are
  // panel_stride() floats apart.
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  int64_t panel_stride() const { return features_ * kPanelTokens; }
  int64_t size() const { return panels() * panel_stride(); }
  PanelView View() const { return {data(), panel_stride()}; }
  PanelOutput Output() { return {data(), kPanelTokens, panel_stride()}; }

 private:
  int64_t Offset(int64_t token, int64_t feature) const {
    return token / kPanelTokens * panel_stride() + feature * kPanelTokens +
           token % kPanelTokens;
  }

  int64_t tokens_;
  int64_t features_;
  LineFloats data_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODULES_PANEL_ACTIVATIONS_H_
