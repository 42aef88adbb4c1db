// Reads the index of a checkpoint in several files: the list of its shards,
// from model.safetensors.index.json.
//
//   absl::StatusOr<std::vector<footprint::Shard>> shards =
//       footprint::ReadShardIndex("gpt2-xl/model.safetensors.index.json");
//   // (*shards)[0].path, (*shards)[0].tensors
//
// It reads only the index, not the files. They must be in the index's folder: a
// name that leads elsewhere is refused.
//
// Thread-safe; shards own their texts. Memory: a few times the index's text,
// which has at most 64 MiB.
//
// InvalidArgument: the file is not such an index, has a name twice, is not a
// regular file, or is larger than 64 MiB; the text names the file and the key.
// NotFound: no such file. Other errors are those of FileError.

#ifndef FOOTPRINT_BASE_SAFETENSORS_SHARD_INDEX_H_
#define FOOTPRINT_BASE_SAFETENSORS_SHARD_INDEX_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

struct Shard {
  std::string path;
  std::vector<std::string> tensors;  // the tensors that the index expects there
};

// Returns the shards, at least one, in the order of their names.
absl::StatusOr<std::vector<Shard>> ReadShardIndex(absl::string_view path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SAFETENSORS_SHARD_INDEX_H_
