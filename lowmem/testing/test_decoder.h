// Random decoders in the form of GPT-2's public checkpoints, and a decoder in
// double precision that is simple enough to check by reading.
//
//   const TestDecoder decoder = RandomDecoder(config, type, 7);
//   const std::string folder = WriteDecoder(decoder, type, "agrees");
//   const std::vector<double> expected = DecodeReference(decoder, ids);
//
// A decoder owns its numbers, 4 bytes of memory each; the files stay in the
// test's own folder. Thread-safe if names differ.

#ifndef FOOTPRINT_LOWMEM_TESTING_TEST_DECODER_H_
#define FOOTPRINT_LOWMEM_TESTING_TEST_DECODER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/testing/test_checkpoint.h"

namespace footprint {

struct TestDecoder {
  DecoderConfig config;
  TestTensors tensors;
};

TestDecoder RandomDecoder(const DecoderConfig& config, DType type,
                          uint32_t seed);

// Writes the decoder as WriteCheckpoint of test_checkpoint.h does.
std::string WriteDecoder(const TestDecoder& decoder, DType type,
                         const std::string& name, int64_t block_columns = 0);

// Returns the logits after all of `ids`, one for each entry of the vocabulary.
// The output's matrix is that of the words, whatever the config says.
std::vector<double> DecodeReference(const TestDecoder& decoder,
                                    const std::vector<int32_t>& ids);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TESTING_TEST_DECODER_H_
