// A layer: the tensors that it needs, the operands that each of its steps reads
// and writes, and the steps themselves.
//
//   std::shared_ptr<const footprint::Layer> layer = footprint::Relu();
//   auto signature =
//       layer->Describe({inputs, mode, footprint::ReferenceMath()});
//
// A layer declares the operands of its steps in a LayerSignature; lifespans
// follow from that declaration and from nothing else, and a step that asks for
// an operand that it did not declare ends the program, naming the layer. Layers
// are immutable and hold their hyperparameters only, so one may serve many
// networks and threads; the memory that they work on is lent for the duration
// of a step. A step asks the heap for nothing.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_LAYER_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/math/math_backend.h"

namespace footprint {

enum class NetworkMode : uint8_t { kInference, kTraining };

// A tensor as one layer sees it.
enum class Role : uint8_t {
  kInput,
  kLabel,
  kOutput,            // of a loss: the loss
  kWeight,            // trained
  kRunningStatistic,  // kept from step to step, not trained
  kSaved,             // written by the forward step for the backward ones
  kWorkspace,         // scratch of one step
  kGradient,          // of a weight
  kOutputDerivative,  // of the loss by the output
  kInputDerivative,   // of the loss by an input
  kOptimizerState,    // of a weight; only the apply step sees it
  kSlice,             // a part of a tensor, for a sliced step alone
};

absl::string_view RoleName(Role role);

struct Operand {
  Role role;
  int index = 0;

  friend bool operator==(const Operand& a, const Operand& b) {
    return a.role == b.role && a.index == b.index;
  }
};

// `written` may lie where `read` lies, if nobody needs `read` afterwards.
struct InPlace {
  Operand written;
  Operand read;
  // They hold the same bytes: both may then be read as long as one likes, and
  // the step has nothing to do where they share them.
  bool same_bytes = false;
};

// Operands that one step reads and writes. The step cannot reach an operand
// that is in no list.
struct StepUse {
  std::vector<Operand> reads;
  std::vector<Operand> writes;
  std::vector<InPlace> in_place;
};

enum class Initializer : uint8_t {
  kZeros,
  kOnes,
  kUniformByFan,  // +- sqrt(6 / (fan in + fan out))
  kNormalByFan,   // standard deviation sqrt(2 / fan in)
  kNormal,        // standard deviation 0.02
};

struct WeightSpec {
  std::string name;  // within the layer, such as "bias"
  TensorType spec;
  Initializer initializer = Initializer::kZeros;
};

struct LayerSignature {
  TensorType output;
  absl::optional<TensorType> label;  // a layer that has one is a loss
  std::vector<WeightSpec> weights;
  std::vector<WeightSpec> statistics;
  // A forward step is not given them where no backward step follows that reads
  // them, as in front of the first trained layer.
  std::vector<TensorType> saved;
  std::vector<TensorType> workspaces;
  StepUse forward;
  StepUse gradient;    // of the weights
  StepUse derivative;  // of the inputs; runs after the gradient
  // Calculates the output again, bit for bit, after the forward step; reads
  // nothing where that cannot be.
  StepUse recompute;
  // About how many multiplications that takes; 0: as good as none. Floating
  // point, since sizes that are refused later must not overflow here.
  double recompute_products = 0;
  // Restores an input that gives the layer before the same derivative, namely
  // one that is zero wherever the derivative of this layer is; reads nothing
  // where there is none.
  StepUse restore_input;
  // The derivative of each element of the batch depends on no other element;
  // what it reads of saved tensors is by elements, too.
  bool derivative_by_element = false;
  // Rows of the batch count by what the others are, so that micro-batches give
  // another result. Statistics say so by themselves.
  bool couples_rows = false;
  // The label that a loss ignores: the loss is the mean over all other labels,
  // and its derivative is 0 at ignored ones. Micro-batches are then weighted by
  // their other labels.
  absl::optional<float> ignored_label;
};

struct LayerInputs {
  std::vector<TensorType> inputs;
  NetworkMode mode;
  const MathBackend& math;
  // Whether places in windows are saved in as few bits as they need.
  bool pack_winners = true;
  // If set, the weights are not trained: no step applies gradients, and none
  // computes them unless the derivative reads them. The layer must not take
  // statistics of the batch then.
  bool frozen = false;
};

// The name of a running step's layer, looked up only for an error: number
// `layer` of `names`, which follow each other, each ended by a 0.
struct LayerName {
  const char* names = nullptr;
  size_t layer = 0;

  // Returns the text; empty where there are no names.
  absl::string_view Text() const;
};

// The place in the whole batch where the operands of a step lie: in one of
// several micro-batches, and of that, where `rows` is not 0, the part from
// `first_row` on of so many rows.
struct BatchPlace {
  int64_t micro_batch = 0;
  int64_t first_row = 0;
  int64_t rows = 0;
};

// The operands of one running step.
class StepData {
 public:
  struct Slot {
    Operand operand;
    bool readable = false;
    bool writable = false;
    const TensorType* spec = nullptr;
    void* data = nullptr;
  };

  // Slots, math and names must outlive it. `seed` differs by layer and
  // iteration, and is the same for all steps of a layer in one iteration, in
  // all parts of the batch: random numbers follow from it and from
  // FirstElement.
  StepData(absl::Span<const Slot> slots, NetworkMode mode, uint64_t seed,
           const MathBackend& math, LayerName name = {}, BatchPlace place = {})
      : slots_(slots),
        mode_(mode),
        seed_(seed),
        math_(math),
        name_(name),
        place_(place) {}

  template <typename Element = float>
  const Element* Read(Role role, int index = 0) const {
    return static_cast<const Element*>(Find({role, index}, true, false).data);
  }
  template <typename Element = float>
  Element* Write(Role role, int index = 0) const {
    return static_cast<Element*>(Find({role, index}, false, true).data);
  }
  const Shape& shape(Role role, int index = 0) const {
    return Find({role, index}, false, false).spec->shape;
  }
  int64_t elements(Role role, int index = 0) const {
    return shape(role, index).elements();
  }
  // The place that the operand's first element has in the whole batch.
  int64_t FirstElement(Role role, int index = 0) const;
  // Returns whether the operand is there: a derivative that nobody needs is
  // not.
  bool Has(Role role, int index = 0) const;
  // The workspace of this step, or null where none was declared.
  void* Workspace() const;

  NetworkMode mode() const { return mode_; }
  uint64_t seed() const { return seed_; }
  const MathBackend& math() const { return math_; }
  const LayerName& name() const { return name_; }
  const BatchPlace& place() const { return place_; }

 private:
  const Slot* FindOrNull(Operand operand) const;
  const Slot& Find(Operand operand, bool read, bool write) const;

  absl::Span<const Slot> slots_;
  NetworkMode mode_;
  uint64_t seed_;
  const MathBackend& math_;
  LayerName name_;
  BatchPlace place_;
};

class Layer {
 public:
  virtual ~Layer() = default;

  // Returns the name of the type, such as "fully connected".
  virtual absl::string_view type() const = 0;

  // InvalidArgument: the number of inputs, a shape or an element type does not
  // suit the layer; the text says which would.
  virtual absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const = 0;

  // OutOfRange: an index in the data points nowhere.
  virtual absl::Status Forward(const StepData& data) const = 0;
  // These are called where the signature declares such a step. A layer that
  // declares one must override it: the default ends the program, naming the
  // layer. Recompute is Forward unless a layer says otherwise, and must give
  // its bits.
  virtual void CalculateGradient(const StepData& data) const;
  virtual void CalculateDerivative(const StepData& data) const;
  virtual absl::Status Recompute(const StepData& data) const;
  virtual void RestoreInput(const StepData& data) const;
};

using LayerPointer = std::shared_ptr<const Layer>;

// Check, for Describe, that there is one input each, of element type float,
// unless said otherwise.
absl::Status CheckInputCount(const LayerInputs& inputs, size_t count);
absl::Status CheckInputType(const LayerInputs& inputs, size_t index,
                            DType type);
absl::Status CheckInputRank(const LayerInputs& inputs, size_t index,
                            int min_rank, int max_rank);
// The three checks for a layer of one float input.
absl::Status CheckOneFloatInput(const LayerInputs& inputs, int min_rank,
                                int max_rank);

// Returns whether every tensor that the signature names so far has a size: for
// Describe before it calculates with sizes that follow from the user's, as a
// workspace does. Errors: those of CheckedSizeBytes.
absl::Status CheckSizes(const LayerSignature& signature);

// Returns whether the steps that the signature declares can run: each operand
// exists, the forward step writes the output and what later steps read of the
// saved tensors, Recompute writes the output, and in training the gradient step
// writes the gradient of each weight, unless they are frozen. InvalidArgument:
// the text says which is missing.
absl::Status CheckOperands(const LayerSignature& signature,
                           const LayerInputs& inputs);

// Adds a workspace of so many bytes to the signature and to the step; none for
// 0.
void AddWorkspace(int64_t size_bytes, LayerSignature* signature, StepUse* use);

}  // namespace footprint

// Tested by fully_connected_test, activations_test, the tests of the other
// layers and //trainer_manager/networks:network_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_LAYER_H_
