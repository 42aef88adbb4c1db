#include "footprint/trainer_manager/execution/option_subset.h"

namespace footprint {

MemoryOptions OptionSubset(unsigned bits) {
  MemoryOptions options;
  unsigned bit = 1;
  for (bool* option : {&options.share_gradients, &options.share_edges,
                       &options.reuse_activations, &options.reuse_derivatives,
                       &options.in_place, &options.reuse_workspaces,
                       &options.slice_derivatives, &options.recompute_outputs,
                       &options.restore_pooled, &options.pack_winners}) {
    *option = (bits & bit) != 0;
    bit *= 2;
  }
  return options;
}

}  // namespace footprint
