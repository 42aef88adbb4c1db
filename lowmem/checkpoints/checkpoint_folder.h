// Opens the weights of a checkpoint's folder, as it was published.
//
//   absl::StatusOr<std::unique_ptr<footprint::WeightStore>> store =
//       footprint::OpenFolderWeights("bert-base-uncased",
//                                    footprint::WeightBackend::kPread);
//
// Opens `directory`/model.safetensors or, if that is missing, the files that
// `directory`/model.safetensors.index.json names or, if that is missing, too,
// `directory`/model.gguf, which lowmem_pack --quantize writes. If all are
// missing, the error is NotFound, and says what the folder has instead (a
// pickle or GGUF files of other names) and what to do.
//
// A path to a file opens that file. All other errors are those of WeightStore.
//
// The caller owns the store, which keeps the file open. Thread-safe. Memory:
// the backend's, as weight_store.h says.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_FOLDER_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_FOLDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

absl::StatusOr<std::unique_ptr<WeightStore>> OpenFolderWeights(
    absl::string_view directory, WeightBackend backend);

// Returns the path of the file that holds a folder's weights, or of the index
// that names several, even if it does not exist. A path to a file is returned
// as it is.
std::string FindWeightFile(absl::string_view path);

// Returns that path, and those of the files that it names if it is an index;
// the path alone if the index cannot be read.
std::vector<std::string> ListWeightFiles(absl::string_view path);

// Returns the bytes of these files, without those that do not exist.
int64_t ComputeWeightBytes(absl::string_view path);

// Returns the other file of weights that the folder has, which is not read;
// empty if there is none.
std::string FindUnreadWeightFile(absl::string_view path);

// Returns whether the path is a file and not a folder. A GGUF file is a whole
// model.
bool IsModelFile(absl::string_view path);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_FOLDER_H_
