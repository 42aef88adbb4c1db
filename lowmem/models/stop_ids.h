// The ids that end what a decoder generates, as its checkpoint says.
//
//   absl::StatusOr<std::vector<int32_t>> stops =
//       footprint::ReadStopIds("Llama-3.2-1B-Instruct");
//
// "eos_token_id" of the folder's generation_config.json and config.json, a
// number or a list; neither file need be there, nor say any. A GGUF file has
// them among its keys: see ReadGgufStopIds.
//
// Pure but for the files; thread-safe. Memory: the files' text while it is
// read. InvalidArgument: no JSON object, or what is no id; names the file.

#ifndef FOOTPRINT_LOWMEM_MODELS_STOP_IDS_H_
#define FOOTPRINT_LOWMEM_MODELS_STOP_IDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace footprint {

absl::StatusOr<std::vector<int32_t>> ReadStopIds(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_STOP_IDS_H_
