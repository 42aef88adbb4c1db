// Reads any text as the index of a checkpoint in several files. All files are
// in the index's folder.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "footprint/base/safetensors/shard_index.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"

namespace footprint {
namespace {

void ReadAnyIndex(absl::string_view bytes) {
  const MemoryFile file(bytes);
  const absl::StatusOr<std::vector<Shard>> shards = ReadShardIndex(file.path());
  if (!shards.ok()) return RequireRefusal(shards.status());
  const std::string folder = file.path().substr(0, file.path().rfind('/') + 1);
  Require(!shards->empty(), "an index names a file");
  for (const Shard& shard : *shards) {
    Require(absl::StartsWith(shard.path, folder) &&
                shard.path.size() > folder.size(),
            "a file lies below the index's folder");
    const std::string name = shard.path.substr(folder.size());
    Require(name.find('/') == std::string::npos && name != "..",
            "a file lies beside the index");
    Require(!shard.tensors.empty(), "a file holds a tensor");
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyIndex)

}  // namespace footprint
