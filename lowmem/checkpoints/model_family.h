// Finds the family of a checkpoint's model from its config.json.
//
//   absl::StatusOr<footprint::ConfigReader> reader =
//       footprint::ConfigReader::Parse(text, "config.json");
//   const footprint::ModelFamily family = footprint::FindModelFamily(*reader);
//   if (!reader->status().ok()) return reader->status();
//
// The key "model_type" decides. If it is missing, "architectures" decides,
// which holds the class names of the model. A config with neither key is BERT's
// if it has BERT's keys and "pad_token_id" 0. Nothing else is guessed: RoBERTa
// has the keys and tensors of BERT but other positions, so it would run as BERT
// and give wrong results.
//
// The reader keeps the error: Unimplemented for another family, and for a
// checkpoint that another library quantised ("quantization_config", as GPTQ,
// AWQ, bitsandbytes and FP8 write it); InvalidArgument if the keys contradict
// each other or do not decide.
//
// Thread-compatible like the reader, which the caller owns. Memory: none.

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
  kModernBert,
  kNomicBert,  // nomic-embed-text
  kGpt2,
  kLlama,  // Llama 2 and 3, and models in their form
  kMistral,
  kQwen2,  // Qwen 2 and 2.5
  kQwen3,
  kGemma3,  // only the text models
  kPhi3,
  kGemma,  // the first generation
  kOlmo2,
  kSmolLm3,
  kGranite,  // Granite 3, without mixtures of experts
};

inline constexpr int kModelFamilies = 19;

// Returns the name that "model_type" has, such as "bert".
const char* ModelFamilyName(ModelFamily family);

// Returns the name of the family's class in transformers that generates text,
// such as "LlamaForCausalLM".
std::string CausalClassName(ModelFamily family);

// Returns whether models of the family generate text.
bool IsDecoderFamily(ModelFamily family);

// Returns whether models of the family have a decoder's layers: those that
// generate text, and encoders with rotary positions.
bool HasDecoderLayers(ModelFamily family);

// Returns the names of the families that generate text, for messages:
// "\"gpt2\", \"llama\" and ...".
std::string DecoderFamilyNames();

// Returns the family, or an arbitrary one after an error.
ModelFamily FindModelFamily(ConfigReader& reader);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_MODEL_FAMILY_H_
