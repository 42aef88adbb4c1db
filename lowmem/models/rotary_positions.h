// Computes the angles by which a decoder rotates queries and keys to encode
// their tokens' positions (RoPE), with every published scaling that does not
// depend on the length of the text.
//
//   absl::StatusOr<footprint::ConfigReader> config = ...;
//   footprint::RotaryPositions rotary =
//       footprint::ReadRotaryPositions(*config, {64, 8192, 10000.0});
//   if (!config->status().ok()) return config->status();
//   float angle = static_cast<float>(position) * rotary.frequencies[pair];
//
// Reads "rope_parameters", as in configs since 2025, or "rope_theta" and
// "rope_scaling". Scalings: "default", "linear", "llama3" (Llama 3.1's), "yarn"
// (Peng et al., 2023) and "longrope" (Ding et al., 2024). With "longrope", only
// the factors for short texts are used, so the model's positions end where
// those do.
//
// Rounding: frequencies and their product with the position are rounded to
// floats, as in the published code; the cosine and sine of that float are exact
// but for their own rounding. At 4,000 positions exact angles would differ by
// up to 2e-4. Of 1,520 frequencies of public shapes, 16 differ from torch's by
// one unit in the last place, because torch's power function does not always
// return the nearest float.
//
// The reader keeps the error: Unimplemented for another scaling, such as
// "dynamic", and InvalidArgument for a factor that is missing or impossible.
//
// Plain data: 4 bytes of memory for each pair of features. Thread-compatible
// like the reader, which the caller owns.

#ifndef FOOTPRINT_LOWMEM_MODELS_ROTARY_POSITIONS_H_
#define FOOTPRINT_LOWMEM_MODELS_ROTARY_POSITIONS_H_

#include <cstdint>
#include <vector>

#include "footprint/lowmem/checkpoints/config_reader.h"

namespace footprint {

struct RotaryPositions {
  // The angle between neighbouring positions, for each pair of features.
  std::vector<float> frequencies;
  // The factor of cosines and sines.
  float scale = 1;
  // The features of a pair are adjacent (see RotaryAngles).
  bool has_neighbours = false;
  // The positions that the scaling is meant for, or 0 for all of the model's.
  int64_t most_positions = 0;

  int64_t pairs() const { return static_cast<int64_t>(frequencies.size()); }
};

bool operator==(const RotaryPositions& a, const RotaryPositions& b);

// Numbers that the angles depend on in addition to the keys.
struct RotaryDefaults {
  int64_t head_features = 0;
  int64_t positions = 0;
  double theta = 10000.0;  // if the config does not name one
  // The positions before scaling, if the scaling's own object does not name
  // them.
  int64_t original_positions = 0;
};

// Reads the keys of the whole config.
RotaryPositions ReadRotaryPositions(ConfigReader& config,
                                    const RotaryDefaults& defaults);

// Reads the keys of one object of parameters; "rope_parameters" may have one
// for each kind of layer.
RotaryPositions ReadRotaryParameters(ConfigReader& parameters,
                                     const RotaryDefaults& defaults);

// The rotations of a model whose sliding layers have others than the rest.
struct LayerRotations {
  RotaryPositions full;
  RotaryPositions sliding;
};

// Reads the objects "full_attention" and "sliding_attention" of
// "rope_parameters". Without them, `full` has the keys of the whole config, and
// `sliding` has no scaling and the base `sliding_theta`.
LayerRotations ReadLayerRotations(ConfigReader& config,
                                  const RotaryDefaults& defaults,
                                  double sliding_theta);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_ROTARY_POSITIONS_H_
