#include "footprint/trainer_manager/planner/generated_requests.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/random/random_sequence.h"

namespace footprint {
namespace {

// A generator of its own, since the standard distributions differ between
// libraries.
class Random {
 public:
  explicit Random(uint64_t seed) : sequence_(seed * 2 + 1) {}

  // Returns a number in [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(sequence_.Next() %
                                      static_cast<uint64_t>(high - low + 1));
  }

 private:
  RandomSequence sequence_;
};

struct Piece {
  int64_t left, right;  // steps
  int64_t low, high;    // bytes

  int64_t width() const { return right - left; }
  int64_t height() const { return high - low; }
};

// Cuts the piece in two.
bool CutThrough(const Piece& piece, Random* random, std::vector<Piece>* out) {
  const bool can_cut_steps = piece.width() > 1;
  const bool can_cut_bytes = piece.height() > 1;
  if (!can_cut_steps && !can_cut_bytes) return false;
  Piece first = piece;
  Piece second = piece;
  if (can_cut_steps && (!can_cut_bytes || random->Between(0, 1) == 0)) {
    first.right = second.left =
        piece.left + random->Between(1, piece.width() - 1);
  } else {
    first.high = second.low =
        piece.low + random->Between(1, piece.height() - 1);
  }
  out->insert(out->end(), {first, second});
  return true;
}

// Cuts five pieces that no straight cut separates.
bool CutPinwheel(const Piece& piece, Random* random, std::vector<Piece>* out) {
  if (piece.width() < 3 || piece.height() < 3) return false;
  const int64_t x1 = piece.left + random->Between(1, piece.width() - 2);
  const int64_t x2 = random->Between(x1 + 1, piece.right - 1);
  const int64_t y1 = piece.low + random->Between(1, piece.height() - 2);
  const int64_t y2 = random->Between(y1 + 1, piece.high - 1);
  out->insert(out->end(), {{piece.left, x2, piece.low, y1},
                           {x2, piece.right, piece.low, y2},
                           {x1, piece.right, y2, piece.high},
                           {piece.left, x1, y1, piece.high},
                           {x1, x2, y1, y2}});
  return true;
}

int64_t Size(Random* random) { return 64 * random->Between(1, 4096); }

// Generates a training step: forward steps 0 to n - 1, then two steps for each
// layer from the last to the first, for its gradient and its derivative.
class TrainingStep {
 public:
  TrainingStep(int64_t layer_count, uint64_t seed)
      : layer_count_(layer_count), random_(seed) {}

  int64_t GradientStep(int64_t layer) const {
    return layer_count_ + 2 * (layer_count_ - 1 - layer);
  }

  void AddLayer(int64_t layer, int64_t last_forward_reader) {
    const int64_t gradient_step = GradientStep(layer);
    const int64_t output_bytes = Size(&random_);
    // The backward pass reads two of three activations again. The third, such
    // as a sum, is not read.
    Add("activation", layer, layer,
        layer % 3 == 2 ? last_forward_reader + 1 : gradient_step, output_bytes);
    // The derivative comes from the next layer and is used up here.
    Add("derivative", layer, gradient_step - 1, gradient_step + 2,
        output_bytes);
    Add("gradient", layer, gradient_step, gradient_step + 1, Size(&random_));
    if (layer % 2 == 0) {
      Add("workspace", layer, layer, layer + 1, Size(&random_));
    }
  }

  std::vector<TensorRequest> TakeRequests() { return std::move(requests_); }

 private:
  void Add(const char* kind, int64_t layer, int64_t lower_step,
           int64_t upper_step, int64_t size_bytes) {
    requests_.push_back({absl::StrCat(kind, layer), lower_step, upper_step,
                         size_bytes, /*alignment_bytes=*/64});
  }

  const int64_t layer_count_;
  Random random_;
  std::vector<TensorRequest> requests_;
};

}  // namespace

PerfectPacking CutPerfectPacking(int64_t tensor_count, int64_t height_bytes,
                                 CutStyle style, uint64_t seed) {
  Random random(seed);
  std::vector<Piece> pieces = {{0, 4 * tensor_count, 0, height_bytes}};
  int64_t failures = 0;
  while (static_cast<int64_t>(pieces.size()) < tensor_count &&
         failures < 100 * tensor_count) {
    // Takes the larger of two random pieces, which limits how much sizes
    // differ.
    const int64_t last = static_cast<int64_t>(pieces.size()) - 1;
    size_t chosen = random.Between(0, last);
    const size_t other = random.Between(0, last);
    const auto area = [](const Piece& piece) {
      return piece.width() * piece.height();
    };
    if (area(pieces[other]) > area(pieces[chosen])) chosen = other;
    const Piece piece = pieces[chosen];
    const bool is_cut = (style == CutStyle::kPinwheel &&
                         CutPinwheel(piece, &random, &pieces)) ||
                        CutThrough(piece, &random, &pieces);
    if (is_cut) pieces.erase(pieces.begin() + chosen);
    failures += is_cut ? 0 : 1;
  }
  for (size_t i = pieces.size(); i > 1; --i) {
    std::swap(pieces[i - 1], pieces[random.Between(0, i - 1)]);
  }
  PerfectPacking packing;
  packing.height_bytes = height_bytes;
  for (const Piece& piece : pieces) {
    packing.requests.push_back({absl::StrCat("t", packing.requests.size()),
                                piece.left, piece.right, piece.height()});
    packing.offsets_bytes.push_back(piece.low);
  }
  return packing;
}

PerfectPacking CutLoosePacking(int64_t tensor_count, int64_t height_bytes,
                               CutStyle style, uint64_t seed) {
  const PerfectPacking packing =
      CutPerfectPacking(tensor_count, height_bytes, style, seed);
  Random random(seed + 1);
  const int64_t full_step = random.Between(0, 4 * tensor_count - 1);
  PerfectPacking loose;
  loose.height_bytes = packing.height_bytes;
  for (size_t i = 0; i < packing.requests.size(); ++i) {
    const TensorRequest& request = packing.requests[i];
    const bool stays =
        request.lower_step <= full_step && full_step < request.upper_step;
    if (!stays && random.Between(1, 20) == 1) continue;
    loose.requests.push_back(request);
    loose.offsets_bytes.push_back(packing.offsets_bytes[i]);
  }
  return loose;
}

std::vector<TensorRequest> SpreadRequests(LifespanShape shape,
                                          int64_t tensor_count, uint64_t seed) {
  constexpr int64_t kLongestTooth = 50;
  Random random(seed);
  std::vector<TensorRequest> requests;
  for (int64_t i = 0; i < tensor_count; ++i) {
    TensorRequest request;
    request.id = absl::StrCat("t", i);
    request.size_bytes = Size(&random);
    request.lower_step = i;
    request.upper_step = i + 1 + i % kLongestTooth;
    if (shape == LifespanShape::kUniform) {
      const int64_t one = random.Between(0, tensor_count);
      const int64_t other = random.Between(0, tensor_count);
      request.lower_step = std::min(one, other);
      request.upper_step = std::max(one, other) + 1;
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

std::vector<TensorRequest> TrainingRequests(NetworkShape shape,
                                            int64_t tensor_count,
                                            uint64_t seed) {
  const int64_t layer_count = std::max<int64_t>(2, tensor_count * 2 / 7);
  TrainingStep step(layer_count, seed);
  for (int64_t layer = 0; layer < layer_count; ++layer) {
    int64_t last_reader = layer + 1;
    if (shape == NetworkShape::kResidual && layer % 3 == 2) {
      last_reader = layer + 3;
    } else if (shape == NetworkShape::kUNet) {
      last_reader = std::max(last_reader, layer_count - 1 - layer);
    }
    step.AddLayer(layer, std::min(last_reader, layer_count - 1));
  }
  return step.TakeRequests();
}

std::vector<TensorRequest> RandomRequests(int64_t largest_count,
                                          int64_t largest_alignment_bytes,
                                          uint64_t seed) {
  Random random(seed);
  const int64_t count = random.Between(1, largest_count);
  const int64_t last_step = random.Between(1, count + 2);
  const int64_t largest_size = random.Between(1, 12);
  std::vector<TensorRequest> requests;
  for (int64_t i = 0; i < count; ++i) {
    TensorRequest request;
    request.id = absl::StrCat("t", i);
    request.lower_step = random.Between(0, last_step - 1);
    request.upper_step = random.Between(request.lower_step + 1, last_step);
    request.size_bytes = random.Between(1, largest_size);
    while (request.alignment_bytes < largest_alignment_bytes &&
           random.Between(0, 1) == 0) {
      request.alignment_bytes *= 2;
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace footprint
