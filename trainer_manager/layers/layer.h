// A layer: the tensors that it needs, the operands that each of its steps reads
// and writes, and the steps themselves.
//
//   std::shared_ptr<const footprint::Layer> layer = footprint::Relu();
//   auto signature =
//       layer->Describe({inputs, mode, footprint::ReferenceMath()});
//
// A layer declares the operands of its steps in a LayerSignature. Lifespans
// follow only from that declaration; a step that uses an operand that it did
// not declare ends the program with the layer's name. Layers are immutable and
// hold only their hyperparameters, so one may serve many networks and threads;
// each step borrows the memory that it works on. A step allocates nothing. It
// may divide a loop among threads (StepData::math, MathBackend::ForEachBand);
// inside of that loop only MathBackend::OneThread may be used.

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

// The role of a tensor for one layer.
enum class Role : uint8_t {
  kInput,
  kLabel,
  kOutput,            // of a loss: the value of the loss
  kWeight,            // trained
  kRunningStatistic,  // kept from step to step, not trained
  kSaved,             // written by the forward step for backward steps
  kWorkspace,         // scratch of one step
  kGradient,          // of a weight
  kOutputDerivative,  // of the loss by the output
  kInputDerivative,   // of the loss by an input
  kOptimizerState,    // of a weight; only for the apply step
  kSlice,             // a part of a tensor, only for a sliced step
};

// Returns a name for messages, such as "output derivative".
absl::string_view RoleName(Role role);

struct Operand {
  Role role;
  int index = 0;

  friend bool operator==(const Operand& a, const Operand& b) {
    return a.role == b.role && a.index == b.index;
  }
};

// `written` may take the place of `read` if nothing needs `read` afterwards.
struct InPlace {
  Operand written;
  Operand read;
  // Both hold the same bytes. They can both be read at any time, and if they
  // share memory the step does nothing.
  bool same_bytes = false;
};

// The operands that one step reads and writes. The step cannot access others.
struct StepUse {
  std::vector<Operand> reads;
  std::vector<Operand> writes;
  std::vector<InPlace> in_place;
};

enum class Initializer : uint8_t {
  kZeros,
  kOnes,
  kUniformByFan,      // +- sqrt(6 / (fan in + fan out))
  kNormalByFan,       // standard deviation sqrt(2 / fan in)
  kNormal,            // standard deviation 0.02
  kUniformByColumns,  // +- 1 / sqrt(last extent)
};

struct WeightSpec {
  std::string name;  // within the layer, such as "bias"
  TensorType spec;
  Initializer initializer = Initializer::kZeros;
  // No step of the layer writes it, in training either, although it is among
  // the statistics.
  bool is_constant = false;
};

struct LayerSignature {
  TensorType output;
  absl::optional<TensorType> label;  // set if and only if the layer is a loss
  std::vector<WeightSpec> weights;
  std::vector<WeightSpec> statistics;
  // Saved tensors. They are absent from a forward step if no backward step
  // reads them, as before the first trained layer.
  std::vector<TensorType> saved;
  std::vector<TensorType> workspaces;
  StepUse forward;
  StepUse gradient;    // of the weights
  StepUse derivative;  // of the inputs; runs after the gradient
  // Calculates the output again, bit for bit, after the forward step. `reads`
  // is empty if the layer cannot do that.
  StepUse recompute;
  // Roughly the multiplications of recomputation; 0 if it is nearly free. A
  // floating-point number, since sizes that are refused later must not overflow
  // here.
  double recompute_products = 0;
  // Writes a substitute for the input, with which the activation before
  // calculates the same derivative: it may differ from the input only where
  // this layer's derivative is zero. `reads` is empty if the layer cannot do
  // that.
  StepUse restore_input;
  // True if Forward only picks rows: row i of the output is the row of weight 0
  // whose number is element i of input 0. If the weight stays in its file
  // (MemoryOptions::read_frozen_weights), these rows are read one by one, and
  // Forward does not run.
  bool picks_rows = false;
  // True if Forward and CalculateDerivative only multiply by a matrix, the
  // first weight or statistic that Forward reads, whose columns are those of
  // the output. If the matrix stays in its file and is too large for the
  // budget, ForwardTile and CalculateDerivativeTile run for some columns at a
  // time instead, in their order, and must give the same bits. If the matrix is
  // weight 0, so must CalculateGradientTile for some of its rows.
  bool multiplies_by_matrix = false;
  // True if the derivative of each element of the batch depends on no other
  // element, also in what it reads of saved tensors.
  bool derivative_by_element = false;
  // True if a row counts more or less in the result depending on the other
  // rows, so that micro-batches change the result. Layers with statistics need
  // not set it.
  bool couples_rows = false;
  // The label that a loss ignores: the loss is the mean over all other labels,
  // and its derivative is 0 at ignored ones. Each micro-batch is then weighted
  // by the number of its other labels.
  absl::optional<float> ignored_label;
};

struct LayerInputs {
  std::vector<TensorType> inputs;
  NetworkMode mode;
  const MathBackend& math;
  // True if max pooling saves positions in 1, 2 or 4 bits where that is enough;
  // otherwise each position takes a byte.
  bool pack_winners = true;
  // If set, the weights are not trained: no step applies gradients, and none
  // computes them unless the derivative reads them. The layer must not take
  // statistics of the batch then.
  bool frozen = false;
};

// Some columns, or some rows, of a matrix: from `begin` to before `end`. The
// tile is a dense matrix of its own.
struct MatrixTile {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end - begin; }
};

// The name of a running step's layer, which is searched only for an error: it
// is entry `layer` of `names`, in which a zero byte ends each name.
struct LayerName {
  const char* names = nullptr;
  size_t layer = 0;

  // Returns the name, or an empty text if there are no names.
  absl::string_view Text() const;
};

// The position of a step's operands in the whole batch. If `rows` is 0, they
// are a whole micro-batch. Otherwise they are a slice that begins at
// `first_row` of a micro-batch of `rows` rows.
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

  // Slots, math and names must outlive this object. `seed` differs by layer and
  // iteration, and is the same for all steps of a layer in one iteration and
  // for all parts of the batch. Random numbers follow from it and from
  // FirstElement.
  StepData(absl::Span<const Slot> slots, NetworkMode mode, uint64_t seed,
           const MathBackend& math, LayerName name = {}, BatchPlace place = {})
      : slots_(slots),
        mode_(mode),
        seed_(seed),
        math_(math),
        name_(name),
        place_(place) {}

  // These return the operand's data and its shape. They end the program with
  // the layer's name if the step does not declare the operand, or not for this
  // access. `Element` is not checked.
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
  // Returns the index of the operand's first element in the whole batch.
  int64_t FirstElement(Role role, int index = 0) const;
  // Returns whether the operand exists; a derivative that is not needed does
  // not.
  bool Has(Role role, int index = 0) const;
  // Returns the workspace of this step, or null if none was declared.
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

  // Returns the signature. Returns InvalidArgument if the number of inputs, a
  // shape or an element type does not suit the layer, or if an option of the
  // layer is not valid; the message says what is needed. Returns OutOfRange if
  // a size does not fit 64 bits.
  virtual absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const = 0;

  // Runs the forward step. Returns OutOfRange if an index in the data is out of
  // range, or if a loss ignores all labels.
  virtual absl::Status Forward(const StepData& data) const = 0;
  // These run the other steps. They are called if the signature declares such a
  // step. A layer that declares one must override it: the default ends the
  // program with the layer's name. Recompute is Forward unless overridden, and
  // must give the same bits.
  virtual void CalculateGradient(const StepData& data) const;
  virtual void CalculateDerivative(const StepData& data) const;
  virtual absl::Status Recompute(const StepData& data) const;
  virtual void RestoreInput(const StepData& data) const;
  // These do the part of Forward and CalculateDerivative that needs a tile of
  // the matrix (LayerSignature::multiplies_by_matrix). The matrix's operand
  // then holds that tile alone, row by row, but has the shape of the first
  // tile, which the last may not fill. Tiles begin at multiples of
  // MathBackend::SumBlock. What needs no matrix is done with the last tile,
  // whose end is that of the matrix. ForwardTile runs in place of Recompute,
  // too.
  virtual absl::Status ForwardTile(const StepData& data,
                                   const MatrixTile& tile) const;
  virtual void CalculateDerivativeTile(const StepData& data,
                                       const MatrixTile& tile) const;
  // Does the part of CalculateGradient that is some rows of gradient 0. If the
  // step has other gradients, as it has with the last rows, calculates them.
  virtual void CalculateGradientTile(const StepData& data,
                                     const MatrixTile& rows) const;
};

using LayerPointer = std::shared_ptr<const Layer>;

// These are checks for Describe. They return InvalidArgument with a message
// that says what is needed. `index` must be that of an input: check the count
// first.
absl::Status CheckInputCount(const LayerInputs& inputs, size_t count);
absl::Status CheckInputType(const LayerInputs& inputs, size_t index,
                            DType type);
absl::Status CheckInputRank(const LayerInputs& inputs, size_t index,
                            int min_rank, int max_rank);
// Does all three checks for a layer with one float input.
absl::Status CheckOneFloatInput(const LayerInputs& inputs, int min_rank,
                                int max_rank);

// Checks that every tensor in the signature so far has a valid size. Describe
// calls this before it calculates with sizes that follow from the user's, such
// as those of workspaces. Errors: those of CheckedSizeBytes.
absl::Status CheckSizes(const LayerSignature& signature);

// Checks that the declared steps can run. The output needs an extent unless the
// layer is a loss. In inference only the forward step counts: its operands
// exist, and it writes the output. In training the operands of all steps must
// exist, the forward step must write the saved tensors that later steps read,
// Recompute must write the output, and unless `inputs.frozen` the gradient step
// must write the gradient of each weight. No step may write a constant
// statistic. Returns InvalidArgument, whose message says what is missing or not
// allowed.
absl::Status CheckOperands(const LayerSignature& signature,
                           const LayerInputs& inputs);

// Returns the operand of the matrix of a layer that multiplies_by_matrix.
Operand FindMatrix(const LayerSignature& signature);

// Returns the error of an index that names no row of a table: OutOfRange, with
// the index, its place among the indices and the number of rows.
absl::Status RefuseRow(int32_t row, int64_t place, int64_t rows);

// Adds a workspace of that many bytes to the signature and to the step; does
// nothing for 0.
void AddWorkspace(int64_t size_bytes, LayerSignature* signature, StepUse* use);

}  // namespace footprint

// Tested by fully_connected_test, activations_test, the tests of the other
// layers and //trainer_manager/networks:network_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_LAYER_H_
