// How a packed file says that a matrix is stored in column panels.
//
// A matrix [rows, columns] of panels `panel_columns` wide is stored as the
// tensor [panels, rows, panel_columns]: any reader of safetensors sees that
// shape, so none takes the values for a matrix in the usual order. The columns
// that the last panel has too many are zero. The file's metadata holds, under
// "panels:NAME", the text "ROWSxCOLUMNS/PANEL_COLUMNS".

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_PANELS_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_PANELS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/safetensors/safetensors.h"

namespace footprint {

struct Panels {
  Shape shape;  // before packing
  int64_t panel_columns = 0;
};

std::string PanelsKey(absl::string_view tensor_name);
std::string PanelsText(int64_t rows, int64_t columns, int64_t panel_columns);

// The shape as it stands and one panel for a tensor without such an entry.
// InvalidArgument: an entry that is no such text, or disagrees with the tensor.
absl::StatusOr<Panels> FindPanels(const SafetensorsIndex& index,
                                  const TensorInfo& tensor);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_PANELS_H_
