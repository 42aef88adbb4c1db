// Draws the weights and words of the golden trainings of adapters, as the
// scripts in testdata do.
//
//   footprint::GoldenDraws draws;
//   draws.Fill(*parameters->Find("head.weight"), footprint::RootOfFan(64));
//   draws.DrawTokens(&tokens, &labels);
//
// For tests. Each object draws the same numbers. Thread-compatible.

#ifndef FOOTPRINT_TRAINER_MANAGER_ADAPTERS_GOLDEN_DRAWS_H_
#define FOOTPRINT_TRAINER_MANAGER_ADAPTERS_GOLDEN_DRAWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "footprint/base/random/random_sequence.h"

namespace footprint {

constexpr int64_t kGoldenWords = 50;
constexpr int64_t kGoldenPositions = 16;
constexpr int64_t kGoldenBatch = 4;

class GoldenDraws {
 public:
  // Draws numbers from -scale to scale.
  void Fill(absl::Span<float> values, float scale);
  // Passes over numbers that the script draws for what a file holds.
  void Skip(size_t count);
  // Replaces both by a batch: each row counts on by a step of its own, and a
  // label is the next word.
  void DrawTokens(std::vector<int32_t>* tokens, std::vector<int32_t>* labels);

 private:
  int32_t Below(uint64_t limit);
  float Draw();

  RandomSequence random_{7};
};

// Returns the scale for the weights of a layer with so many inputs.
float RootOfFan(int64_t fan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_ADAPTERS_GOLDEN_DRAWS_H_
