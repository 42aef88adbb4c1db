#include "footprint/trainer_manager/layers/attention.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/trainer_manager/math/array_functions.h"

namespace footprint {
namespace {

// Limits with which the sizes of workspaces cannot overflow.
constexpr int64_t kMostPositions = int64_t{1} << 24;
constexpr int64_t kMostElements = int64_t{1} << 50;

// The position of one head's vectors in tensors whose rows are positions.
struct Head {
  int64_t width;         // of this head
  int64_t input_width;   // of the queries, keys and values of all heads
  int64_t output_width;  // of all heads
  int64_t positions;
  int64_t groups;     // of heads with the same keys and values, in the batch
  int64_t first_row;  // of this element of the batch
  int64_t number;     // of the head, counted over the batch
  // The columns of the head's queries, keys and values in the input. Its
  // queries and its output have the same column.
  int64_t columns[3];
  // Whether a head before it has the same keys and values.
  bool shares_keys;

  // Returns the first of the queries (0), keys (1) or values (2).
  int64_t Part(int64_t part) const {
    return first_row * input_width + columns[part];
  }
  int64_t Output() const { return first_row * output_width + columns[0]; }
  // Returns the index of the first of the head's sums of exponentials.
  int64_t FirstSum() const { return number * positions; }
  int64_t elements() const { return positions * width; }
  float Scale() const { return 1.0f / std::sqrt(static_cast<float>(width)); }

  // The products that the layer consists of; scores are [positions, positions].
  MatrixProduct Scores() const { return {positions, positions, width}; }
  MatrixProduct Weighted() const { return {positions, width, positions}; }
  MatrixProduct WeightedByColumns() const {
    return {positions, width, positions, /*transpose_left=*/true};
  }
};

// Copies vectors that are `stride` apart to the rows of a dense matrix.
void CopyRows(const float* from, int64_t stride, const Head& head, float* to) {
  for (int64_t i = 0; i < head.positions; ++i) {
    std::copy(from + i * stride, from + i * stride + head.width,
              to + i * head.width);
  }
}

// Copies them to the columns of a dense matrix.
void CopyToColumns(const float* from, int64_t stride, const Head& head,
                   float* to) {
  for (int64_t i = 0; i < head.positions; ++i) {
    for (int64_t c = 0; c < head.width; ++c) {
      to[c * head.positions + i] = from[i * stride + c];
    }
  }
}

void CopyRowsBack(const float* from, const Head& head, int64_t stride,
                  float* to) {
  for (int64_t i = 0; i < head.positions; ++i) {
    std::copy(from + i * head.width, from + (i + 1) * head.width,
              to + i * stride);
  }
}

void AddRowsBack(const float* from, const Head& head, int64_t stride,
                 float* to) {
  for (int64_t i = 0; i < head.positions; ++i) {
    for (int64_t c = 0; c < head.width; ++c) {
      to[i * stride + c] += from[i * head.width + c];
    }
  }
}

// Returns whether the threads of the backend work on different heads. They do
// unless a head's products are large enough to be divided among them: then a
// head at a time needs less memory.
bool DividesHeads(const MathBackend& math, const Head& head) {
  return math.threads() > 1 && !math.Divides(head.Scores());
}

// Returns the backend that computes one head.
const MathBackend& MathOfHead(const MathBackend& math, const Head& head) {
  return DividesHeads(math, head) ? math.OneThread() : math;
}

// Dense copies of one head's operands, one after the other in the workspace.
struct Scratch {
  float* first;  // this and the next three: [positions, width]
  float* second;
  float* third;
  float* fourth;            // only in the derivative
  float* scores;            // [positions, positions]
  float* slopes;            // [positions, positions], only in the derivative
  void* products;           // of the backend
  const MathBackend& math;  // computes the head

  // Returns the number of copies: several threads that work on different groups
  // of heads have one each.
  static int64_t Copies(const MathBackend& math, const Head& head) {
    return DividesHeads(math, head)
               ? std::min<int64_t>(math.threads(), head.groups)
               : 1;
  }
  // Returns the bytes of a copy. If there are several, each begins at a cache
  // line of the workspace.
  static int64_t Bytes(const MathBackend& math, const Head& head,
                       bool derivative) {
    const int64_t bytes =
        Elements(head, derivative) * static_cast<int64_t>(sizeof(float)) +
        ProductBytes(math, head);
    return Copies(math, head) == 1 ? bytes : AlignUp(bytes, kLineBytes);
  }
  static int64_t Elements(const Head& head, bool derivative) {
    const int64_t squares = derivative ? 2 : 1;
    return (derivative ? 4 : 3) * head.elements() +
           squares * head.positions * head.positions;
  }
  static int64_t ProductBytes(const MathBackend& all, const Head& head) {
    const MathBackend& math = MathOfHead(all, head);
    return std::max({math.WorkspaceBytes(head.Scores()),
                     math.WorkspaceBytes(head.Weighted()),
                     math.WorkspaceBytes(head.WeightedByColumns())});
  }

  // Takes copy number `copy` of the workspace.
  Scratch(const StepData& data, int copy, const Head& head, bool derivative)
      : math(MathOfHead(data.math(), head)) {
    first =
        reinterpret_cast<float*>(static_cast<char*>(data.Workspace()) +
                                 copy * Bytes(data.math(), head, derivative));
    second = first + head.elements();
    third = second + head.elements();
    fourth = derivative ? third + head.elements() : nullptr;
    scores = (derivative ? fourth : third) + head.elements();
    slopes = derivative ? scores + head.positions * head.positions : nullptr;
    products = ProductBytes(data.math(), head) == 0
                   ? nullptr
                   : first + Elements(head, derivative);
  }
};

// The heads of a batch. Heads with the same keys and values are a group.
struct Heads {
  int64_t batch;
  int64_t heads;      // of an element of the batch
  int64_t key_heads;  // of an element of the batch
  Head sizes;         // which all heads have

  int64_t groups() const { return batch * key_heads; }

  // Calls visit(head, thread) for all heads. Those of a group are visited one
  // after the other.
  template <typename Visit>
  void ForEach(const MathBackend& math, const Visit& visit) const {
    const auto visit_groups = [&](const Band& band) {
      for (int64_t group = band.begin; group < band.end; ++group) {
        VisitGroup(group, band.thread, visit);
      }
    };
    if (!DividesHeads(math, sizes)) {
      visit_groups({0, 0, groups()});
      return;
    }
    const int64_t elements = heads / key_heads * sizes.positions *
                             (sizes.positions + 3 * sizes.width);
    math.ForEachBand(groups(), elements, visit_groups);
  }

 private:
  template <typename Visit>
  void VisitGroup(int64_t group, int thread, const Visit& visit) const {
    const int64_t group_heads = heads / key_heads;
    const int64_t key_head = group % key_heads;
    Head head = sizes;
    head.first_row = group / key_heads * head.positions;
    for (int64_t h = key_head * group_heads; h < (key_head + 1) * group_heads;
         ++h) {
      head.number = group / key_heads * heads + h;
      head.columns[0] = h * head.width;
      head.columns[1] = (heads + key_head) * head.width;
      head.columns[2] = head.columns[1] + key_heads * head.width;
      head.shares_keys = h > key_head * group_heads;
      visit(head, thread);
    }
  }
};

class AttentionLayer final : public Layer {
 public:
  explicit AttentionLayer(const AttentionOptions& options)
      : options_(options) {}

  absl::string_view type() const override { return "attention"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 3, 3);
    if (!status.ok()) return status;
    const Shape& input = inputs.inputs[0].shape;
    const absl::Status fits = CheckHeads(input);
    if (!fits.ok()) return fits;
    if (input.extent(1) > kMostPositions || input.elements() > kMostElements) {
      return absl::InvalidArgumentError(absl::StrCat(
          "an input of shape ", input.ToString(), "; at most ", kMostPositions,
          " positions and ", kMostElements, " elements can be attended to"));
    }
    LayerSignature signature;
    signature.output.shape = {input.extent(0), input.extent(1),
                              HeadWidth(input) * options_.heads};
    signature.forward.reads = {{Role::kInput}};
    signature.forward.writes = {{Role::kOutput}};
    AddWorkspace(WorkspaceBytes(inputs, false), &signature, &signature.forward);
    signature.recompute = signature.forward;
    signature.recompute_products =
        2 * static_cast<double>(signature.output.shape.elements()) *
        static_cast<double>(input.extent(1));
    if (inputs.mode == NetworkMode::kInference) return signature;
    signature.saved = {{{input.extent(0), options_.heads, input.extent(1)}}};
    signature.forward.writes.push_back({Role::kSaved});
    signature.derivative.reads = {{Role::kInput},
                                  {Role::kOutput},
                                  {Role::kSaved},
                                  {Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    AddWorkspace(WorkspaceBytes(inputs, true), &signature,
                 &signature.derivative);
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    float* log_sums =
        data.Has(Role::kSaved) ? data.Write(Role::kSaved) : nullptr;
    HeadsOf(data.shape(Role::kInput))
        .ForEach(data.math(), [&](const Head& head, int thread) {
          const Scratch scratch(data, thread, head, /*derivative=*/false);
          ForwardHead(
              data, head, scratch,
              log_sums == nullptr ? nullptr : log_sums + head.FirstSum());
        });
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    const float* log_sums = data.Read(Role::kSaved);
    HeadsOf(data.shape(Role::kInput))
        .ForEach(data.math(), [&](const Head& head, int thread) {
          const Scratch scratch(data, thread, head, /*derivative=*/true);
          Probabilities(data, head, scratch, log_sums + head.FirstSum());
          DerivativeHead(data, head, scratch);
        });
  }

 private:
  // Returns the number of heads of keys and of values.
  int64_t KeyHeads() const {
    return options_.key_heads == 0 ? options_.heads : options_.key_heads;
  }
  int64_t HeadWidth(const Shape& input) const {
    return input.extent(2) / (options_.heads + 2 * KeyHeads());
  }

  absl::Status CheckHeads(const Shape& input) const {
    constexpr int64_t kMostHeads = int64_t{1} << 24;
    if (options_.heads < 1 || options_.heads > kMostHeads || KeyHeads() < 1 ||
        options_.heads % KeyHeads() != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          options_.heads, " heads with ", KeyHeads(),
          " heads of keys; from 1 to 2^24 heads are needed, a multiple of the "
          "heads of keys"));
    }
    const int64_t parts = options_.heads + 2 * KeyHeads();
    if (input.extent(2) % parts == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the last extent of ", input.ToString(),
                     " must be a multiple of ", parts, ", since each of the ",
                     options_.heads, " heads has queries, and each of the ",
                     KeyHeads(), " heads of keys has keys and values"));
  }

  Heads HeadsOf(const Shape& input) const {
    Heads heads = {};
    heads.batch = input.extent(0);
    heads.heads = options_.heads;
    heads.key_heads = KeyHeads();
    heads.sizes.width = HeadWidth(input);
    heads.sizes.input_width = input.extent(2);
    heads.sizes.output_width = heads.sizes.width * options_.heads;
    heads.sizes.positions = input.extent(1);
    heads.sizes.groups = heads.groups();
    return heads;
  }

  // Returns how many positions, from the first on, position `i` attends to.
  int64_t Seen(const Head& head, int64_t i) const {
    return options_.causal ? i + 1 : head.positions;
  }

  int64_t WorkspaceBytes(const LayerInputs& inputs, bool derivative) const {
    const Head head = HeadsOf(inputs.inputs[0].shape).sizes;
    return Scratch::Copies(inputs.math, head) *
           Scratch::Bytes(inputs.math, head, derivative);
  }

  // Computes the scores of each position before scaling.
  static void Scores(const StepData& data, const Head& head,
                     const Scratch& scratch) {
    const float* input = data.Read(Role::kInput);
    CopyRows(input + head.Part(0), head.input_width, head, scratch.first);
    CopyToColumns(input + head.Part(1), head.input_width, head, scratch.second);
    scratch.math.Multiply(head.Scores(), scratch.first, scratch.second,
                          scratch.scores, scratch.products);
  }

  // Calls visit(scaled scores of a position, the number that it attends to,
  // position) for all positions, then zeros the scores of the others.
  template <typename Visit>
  void ForEachRowOfScores(const Head& head, const Scratch& scratch,
                          const Visit& visit) const {
    const float scale = head.Scale();
    scratch.math.ForEachBand(
        head.positions, head.positions, [&](const Band& band) {
          for (int64_t i = band.begin; i < band.end; ++i) {
            float* row = scratch.scores + i * head.positions;
            const int64_t seen = Seen(head, i);
            for (int64_t j = 0; j < seen; ++j) row[j] *= scale;
            visit(row, seen, i);
            std::fill(row + seen, row + head.positions, 0.0f);
          }
        });
  }

  // Writes the logs of the sums of the scores' exponentials, unless `log_sums`
  // is null.
  void ForwardHead(const StepData& data, const Head& head,
                   const Scratch& scratch, float* log_sums) const {
    Scores(data, head, scratch);
    ForEachRowOfScores(
        head, scratch, [=](float* row, int64_t seen, int64_t position) {
          const float log_sum = static_cast<float>(LogSumExp(row, seen));
          ExpDifferences(row, seen, log_sum, row);
          if (log_sums != nullptr) log_sums[position] = log_sum;
        });
    CopyRows(data.Read(Role::kInput) + head.Part(2), head.input_width, head,
             scratch.third);
    scratch.math.Multiply(head.Weighted(), scratch.scores, scratch.third,
                          scratch.first, scratch.products);
    CopyRowsBack(scratch.first, head, head.output_width,
                 data.Write(Role::kOutput) + head.Output());
  }

  // Computes the probabilities of the forward step, into scratch.scores.
  void Probabilities(const StepData& data, const Head& head,
                     const Scratch& scratch, const float* log_sums) const {
    Scores(data, head, scratch);
    ForEachRowOfScores(head, scratch,
                       [=](float* row, int64_t seen, int64_t position) {
                         ExpDifferences(row, seen, log_sums[position], row);
                       });
  }

  // Stores the derivative of keys or values, which is a sum over the heads that
  // share them.
  static void StoreShared(const float* from, const Head& head, int64_t stride,
                          float* to) {
    if (head.shares_keys) {
      AddRowsBack(from, head, stride, to);
    } else {
      CopyRowsBack(from, head, stride, to);
    }
  }

  void DerivativeHead(const StepData& data, const Head& head,
                      const Scratch& scratch) const {
    const MathBackend& math = scratch.math;
    const float* input = data.Read(Role::kInput);
    const float* derivative =
        data.Read(Role::kOutputDerivative) + head.Output();
    float* result = data.Write(Role::kInputDerivative);
    const int64_t stride = head.input_width;
    // The values' derivative is the probabilities' transpose times the
    // derivative.
    CopyRows(derivative, head.output_width, head, scratch.third);
    math.Multiply(head.WeightedByColumns(), scratch.scores, scratch.third,
                  scratch.fourth, scratch.products);
    StoreShared(scratch.fourth, head, stride, result + head.Part(2));
    // The derivative of the probabilities comes first, then that of the scores.
    CopyToColumns(input + head.Part(2), stride, head, scratch.fourth);
    math.Multiply(head.Scores(), scratch.third, scratch.fourth, scratch.slopes,
                  scratch.products);
    math.ForEachBand(head.positions, head.positions, [&](const Band& band) {
      DeriveScores(data, head, scratch, band);
    });
    // The derivative of the keys comes first, then that of the queries.
    math.Multiply(head.WeightedByColumns(), scratch.slopes, scratch.first,
                  scratch.third, scratch.products);
    StoreShared(scratch.third, head, stride, result + head.Part(1));
    CopyRows(input + head.Part(1), stride, head, scratch.third);
    math.Multiply(head.Weighted(), scratch.slopes, scratch.third,
                  scratch.fourth, scratch.products);
    CopyRowsBack(scratch.fourth, head, stride, result + head.Part(0));
  }

  // Replaces the derivative of a band of positions' probabilities by that of
  // their scores.
  static void DeriveScores(const StepData& data, const Head& head,
                           const Scratch& scratch, const Band& band) {
    const float* output = data.Read(Role::kOutput) + head.Output();
    const float* derivative =
        data.Read(Role::kOutputDerivative) + head.Output();
    const float scale = head.Scale();
    for (int64_t i = band.begin; i < band.end; ++i) {
      const float common =
          DotProduct(derivative + i * head.output_width,
                     output + i * head.output_width, head.width);
      const float* probability = scratch.scores + i * head.positions;
      float* slope = scratch.slopes + i * head.positions;
      for (int64_t j = 0; j < head.positions; ++j) {
        slope[j] = probability[j] * scale * (slope[j] - common);
      }
    }
  }

  const AttentionOptions options_;
};

}  // namespace

LayerPointer Attention(const AttentionOptions& options) {
  return std::make_shared<AttentionLayer>(options);
}

}  // namespace footprint
