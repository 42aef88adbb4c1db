// The family of a checkpoint's model, found from its config.json.
//
//   absl::StatusOr<footprint::ConfigReader> reader =
//       footprint::ConfigReader::Parse(text, "config.json");
//   const footprint::ModelFamily family = footprint::FindModelFamily(*reader);
//   if (!reader->status().ok()) return reader->status();
//
// The key "model_type" decides; where it is missing, "architectures" does, the
// class names of the model. A config with neither is BERT's where it has BERT's
// keys and "pad_token_id" 0. Nothing is guessed beyond that: RoBERTa has the
// keys and tensors of BERT, and other positions, so it would run as BERT and be
// wrong.
//
// The reader keeps the fault: Unimplemented for another family, InvalidArgument
// where the keys contradict each other or none decides.
//
// Thread-compatible, as the reader, which the caller owns. Memory: none.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_MODEL_FAMILY_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_MODEL_FAMILY_H_

#include <string>

#include "footprint/lowmem/checkpoints/config_reader.h"

namespace footprint {

enum class ModelFamily {
  kBert,
  kDistilBert,
  kRoberta,
  kXlmRoberta,
  kCamembert,
  kMpnet,
  kGpt2,
  kLlama,  // Llama 2 and 3, and what is published in their form
  kMistral,
  kQwen2,  // Qwen 2 and 2.5
  kQwen3,
  kGemma3,  // the models of text alone
  kPhi3,
};

// Returns the name as "model_type" says it: "bert".
const char* ModelFamilyName(ModelFamily family);

// Returns whether models of the family go on with a text.
bool IsDecoderFamily(ModelFamily family);

// Returns the names of those families, for messages: "\"gpt2\", \"llama\" and
// ...".
std::string DecoderFamilyNames();

// Returns the family, or any after a fault.
ModelFamily FindModelFamily(ConfigReader& reader);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_MODEL_FAMILY_H_
