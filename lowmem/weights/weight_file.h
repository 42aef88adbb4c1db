// An open file of weights, safetensors or GGUF.
//
//   absl::StatusOr<footprint::WeightFile> file =
//       footprint::WeightFile::Open("model.gguf");
//   const footprint::TensorInfo* words =
//       file->index().FindOrNull("token_embd.weight");
//
// A file that begins with "GGUF" or whose name ends in ".gguf" is read as GGUF,
// every other as safetensors.
//
// Movable, and thread-safe once opened. Memory: the index.
//
// Errors are those of WatchedFile, whose Open waits some milliseconds if the
// file was just written, and of SafetensorsIndex or GgufIndex.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_FILE_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_FILE_H_

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/watched_file.h"
#include "footprint/base/tensor/tensor_index.h"

namespace footprint {

class WeightFile : public WatchedFile {
 public:
  static absl::StatusOr<WeightFile> Open(absl::string_view path);

  const TensorIndex& index() const { return index_; }

 private:
  WeightFile(WatchedFile file, TensorIndex index)
      : WatchedFile(std::move(file)), index_(std::move(index)) {}

  TensorIndex index_;
};

// Returns whether the file can be read and begins with "GGUF"; its name does
// not matter.
bool IsGgufFile(absl::string_view path);

}  // namespace footprint

// Tested by weight_store_test.

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_FILE_H_
