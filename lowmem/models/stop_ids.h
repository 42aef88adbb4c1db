// Reads the ids that end a decoder's generated text, as its checkpoint says.
//
//   absl::StatusOr<std::vector<int32_t>> stops =
//       footprint::ReadStopIds("Llama-3.2-1B-Instruct");
//
// Reads "eos_token_id", a number or a list, of the folder's
// generation_config.json and config.json; either file or key may be missing. If
// the path is a GGUF file, reads the file's keys as ReadGgufStopIds does.
// Returns each id once, and no id if no file has the key.
//
// Pure except for reading the files; thread-safe. Memory: the files' text
// during the read. The error is InvalidArgument, with the file's name, if a
// file is not a JSON object or an id is not an integer from 0 to 2^31 - 1.
// Other errors are those of ReadConfigText and ReadGgufStopIds.

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
