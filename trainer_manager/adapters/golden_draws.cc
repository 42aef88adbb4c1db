#include "footprint/trainer_manager/adapters/golden_draws.h"

#include <cmath>

namespace footprint {

int32_t GoldenDraws::Below(uint64_t limit) {
  return static_cast<int32_t>(random_.Below(limit));
}

float GoldenDraws::Draw() {
  return static_cast<float>(Below(2001)) / 1000.0f - 1.0f;
}

void GoldenDraws::Fill(absl::Span<float> values, float scale) {
  for (float& value : values) value = Draw() * scale;
}

void GoldenDraws::Skip(size_t count) {
  for (size_t i = 0; i < count; ++i) Draw();
}

void GoldenDraws::DrawTokens(std::vector<int32_t>* tokens,
                             std::vector<int32_t>* labels) {
  constexpr int32_t kWords = kGoldenWords;
  tokens->clear();
  labels->clear();
  for (int64_t row = 0; row < kGoldenBatch; ++row) {
    const int32_t first = Below(kGoldenWords);
    const int32_t step = 1 + Below(3);
    for (int32_t i = 0; i < kGoldenPositions; ++i) {
      tokens->push_back((first + step * i) % kWords);
      labels->push_back((first + step * (i + 1)) % kWords);
    }
  }
}

float RootOfFan(int64_t fan) {
  return static_cast<float>(std::pow(static_cast<double>(fan), -0.5));
}

}  // namespace footprint
