// Small random checkpoints for tests, and a forward pass in double precision,
// one number at a time, with which the encoder's tests compare.
//
//   const TestCheckpoint checkpoint = RandomCheckpoint(config, type, 7);
//   const std::string folder = WriteCheckpoint(checkpoint, type, "agrees");
//
// A checkpoint owns its numbers, 4 bytes of memory each; the files stay in the
// test's own folder. RandomTensors is thread-compatible. The functions are
// thread-safe if names differ.

#ifndef FOOTPRINT_LOWMEM_TESTING_TEST_CHECKPOINT_H_
#define FOOTPRINT_LOWMEM_TESTING_TEST_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/models/encoder_config.h"

namespace footprint {

struct TestTensor {
  std::vector<int64_t> shape;
  // The values, cut to the file's element type.
  std::vector<float> values;
};

// Tensors by the names that public checkpoints use.
using TestTensors = std::map<std::string, TestTensor>;

struct TestCheckpoint {
  EncoderConfig config;
  TestTensors tensors;
};

// Draws tensors at random: matrices are stored as `type`, vectors as floats.
class RandomTensors {
 public:
  RandomTensors(DType type, uint32_t seed) : type_(type), random_(seed) {}

  void Matrix(const std::string& name, int64_t rows, int64_t columns);
  // Adds name.weight, [rows, columns], and name.bias with `biases` numbers.
  void Linear(const std::string& name, int64_t rows, int64_t columns,
              int64_t biases);
  // Adds name.weight, numbers around 1, and name.bias.
  void Norm(const std::string& name, int64_t count);
  void Vector(const std::string& name, int64_t count);

  const TestTensors& tensors() const { return tensors_; }

 private:
  void Add(const std::string& name, const std::vector<int64_t>& shape,
           float mean, float deviation, DType type);

  DType type_;
  std::mt19937 random_;
  TestTensors tensors_;
};

// A budget that holds every model of these tests.
constexpr int64_t kPlenty = int64_t{1} << 30;

// Returns random token ids in [0, end).
std::vector<int32_t> RandomIds(std::mt19937& random, int64_t count,
                               int64_t end);

// Returns a random checkpoint of BERT or DistilBERT. Matrices are stored as
// `type` (F32, BF16 or F16), vectors as floats. `seed` determines every number.
TestCheckpoint RandomCheckpoint(const EncoderConfig& config, DType type,
                                uint32_t seed);

// Writes config.json and model.safetensors into a new folder below the test's
// own folder, and returns its path. With `block_columns`, wider matrices except
// tables of embeddings are stored in panels of that many columns, as in packed
// files (see column_blocks.h).
std::string WriteCheckpoint(const TestCheckpoint& checkpoint, DType type,
                            const std::string& name, int64_t block_columns = 0);

// Does the same for any model.
std::string WriteCheckpoint(const std::string& config_json,
                            const TestTensors& tensors, DType type,
                            const std::string& name, int64_t block_columns);

// Returns the hidden states, [tokens, hidden]. If `token_types` is empty, all
// types are 0.
std::vector<double> EncodeReference(const TestCheckpoint& checkpoint,
                                    const std::vector<int32_t>& ids,
                                    const std::vector<int32_t>& token_types);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TESTING_TEST_CHECKPOINT_H_
