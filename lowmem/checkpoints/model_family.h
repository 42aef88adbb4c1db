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
// keys and tensors of BERT, and other positions, so it would run and be wrong.
//
// The reader keeps the fault: Unimplemented for another family, InvalidArgument
// where the keys contradict each other or none decides.
//
// Thread-compatible, as the reader, which the caller owns. Memory: none.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_MODEL_FAMILY_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_MODEL_FAMILY_H_

#include "footprint/lowmem/checkpoints/config_reader.h"

namespace footprint {

enum class ModelFamily { kBert, kDistilBert, kGpt2 };

// Returns the name as "model_type" says it: "bert".
const char* ModelFamilyName(ModelFamily family);

// Returns the family, or any after a fault.
ModelFamily FindModelFamily(ConfigReader& reader);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_MODEL_FAMILY_H_
