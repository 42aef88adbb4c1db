// Layers and optimizers with the faults that their authors really make, for
// tests of the checks that must find them.
//
//   network.AddLayer("bad", AccumulatingLayer(), {"x"});
//
// Their author did not read the checks. Each layer multiplies each column by a
// trained factor, and does one thing wrong. All take float tensors of rank 2,
// and their factors begin as ones. Each call returns a new object, which the
// caller owns. Thread-compatible. Memory: some words.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_FAULTY_LAYERS_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_FAULTY_LAYERS_H_

#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/optimizer.h"

namespace footprint {

// The layer without a fault, which all checks must accept.
LayerPointer RightLayer();

// The gradient is divided by the rows of the batch, although the loss is a mean
// already.
LayerPointer DoubleMeanLayer();
// The derivative of the last column is that of the column before.
LayerPointer WrongColumnLayer();
// The derivative reads the output, which it does not declare.
LayerPointer UndeclaredReadLayer();
// The forward step multiplies its input in place, and then copies it.
LayerPointer InputWritingLayer();
// The forward step does not write the last row.
LayerPointer UnfinishedOutputLayer();
// Recompute divides by the reciprocal of the factor, which rounds differently
// once the factor is not 1.
LayerPointer OtherRecomputeLayer();
// The gradient is added to what was in its memory.
LayerPointer AccumulatingLayer();
// The gradient is calculated from the address of the input that the forward
// step saw.
LayerPointer StalePointerLayer();
// The forward step writes one element beyond its output.
LayerPointer OverrunningLayer();
// The output is the square root, not a number for values below 0, of the scaled
// input.
LayerPointer SquareRootLayer();
// The gradient is summed in a workspace that nothing clears.
LayerPointer DirtyWorkspaceLayer();

// The shape of an output that Describe gives wrongly.
enum class WrongShape {
  kNoExtents,
  kTooManyExtents,
  kZeroExtent,
  kOverflow,      // more elements than 63 bits count
  kOneRowLess,    // than the step writes; no check finds this in planning
  kHugeWorkspace  // more bytes than a machine has
};
LayerPointer WrongShapeLayer(WrongShape shape);

// The optimizer divides each gradient by its own size, without an epsilon, so a
// gradient of 0 gives a weight that is not a number. If `claims_to_foresee`, it
// says that StaysFinite would predict that, which is not so.
OptimizerPointer DividingOptimizer(bool claims_to_foresee);
// The optimizer declares one state when it is created, and later two.
OptimizerPointer ChangingStatesOptimizer();
// The optimizer divides the gradient by its norm over the whole weight, but
// says that it treats each element alone.
OptimizerPointer NormOptimizer();

}  // namespace footprint

// Tested by faulty_layers_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_FAULTY_LAYERS_H_
