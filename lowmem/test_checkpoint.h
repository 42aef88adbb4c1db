// Small random checkpoints for tests, and a forward pass in double precision,
// one number at a time: the oracle of the encoder's tests.

#ifndef FOOTPRINT_LOWMEM_TEST_CHECKPOINT_H_
#define FOOTPRINT_LOWMEM_TEST_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "footprint/lowmem/encoder_config.h"
#include "footprint/lowmem/matrix_product.h"

namespace footprint {

struct TestTensor {
  std::vector<int64_t> shape;
  // As stored: rounded to the file's element type.
  std::vector<float> values;
};

struct TestCheckpoint {
  EncoderConfig config;
  // By the names of public checkpoints.
  std::map<std::string, TestTensor> tensors;
};

// Matrices are stored as `type`, vectors as floats. Every number is drawn anew
// from `seed`.
TestCheckpoint RandomCheckpoint(const EncoderConfig& config, ElementType type,
                                uint32_t seed);

// Writes config.json and model.safetensors into a new folder below the test's
// own and returns its path. With `panel_columns`, matrices that are wider are
// stored in panels of that many columns, as packed files are (see panels.h).
std::string WriteCheckpoint(const TestCheckpoint& checkpoint, ElementType type,
                            const std::string& name, int64_t panel_columns = 0);

// tokens x hidden.
std::vector<double> EncodeReference(const TestCheckpoint& checkpoint,
                                    const std::vector<int32_t>& ids,
                                    const std::vector<int32_t>& token_types);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEST_CHECKPOINT_H_
