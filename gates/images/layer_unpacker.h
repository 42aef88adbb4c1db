// Applies one layer of a container image to the folder that has the lower ones.
//
//   LayerUnpacker layer("the layer sha256:ab...", limits, &root);
//   absl::Status status = layer.Apply(part, diff_id, end);
//   if (!status.ok()) return status;
//   limits.unpacked_bytes -= layer.unpacked_bytes();
//
// unpack_image.h says which entries are taken, refused and left out; others use
// that. The folder and the limits must exist as long as this object.
// Thread-compatible. Memory: the name of each entry and 100 bytes, and
// TarReader's. Time: linear. Errors: those of UnpackImage. After an error the
// folder has a part of the layer.

#ifndef FOOTPRINT_GATES_IMAGES_LAYER_UNPACKER_H_
#define FOOTPRINT_GATES_IMAGES_LAYER_UNPACKER_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/tar_reader.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "footprint/gates/images/root_folder.h"

namespace footprint {

class LayerUnpacker {
 public:
  LayerUnpacker(std::string name, const BundleLimits& limits, RootFolder* root);

  // Applies the layer, whose unpacked bytes must have the hash `diff_id`.
  absl::Status Apply(const FilePart& part, const std::string& diff_id,
                     SteadyTime end);

  // Returns the bytes of the layer's files.
  int64_t unpacked_bytes() const { return unpacked_bytes_; }

 private:
  absl::Status Wrong(absl::string_view path, absl::string_view problem) const;
  absl::Status OfThis(const absl::Status& status) const;
  absl::StatusOr<std::string> CleanPath(absl::string_view path) const;
  absl::Status Take(const TarEntry& entry, TarReader* reader);
  absl::Status TakeFile(const std::string& path, const TarEntry& entry,
                        TarReader* reader);
  absl::Status TakeLink(const std::string& path, const TarEntry& entry);
  absl::Status TakeWhiteout(const std::string& folder, absl::string_view name,
                            const TarEntry& entry);
  absl::Status CheckEntries() const;
  void Keep(const std::string& path);
  bool IsKept(const std::string& path) const { return kept_.count(path) > 0; }

  const std::string name_;
  const BundleLimits& limits_;
  RootFolder& root_;
  // Everything that this layer has, with the folders in which it lies.
  std::set<std::string> kept_;
  // Folders in which nothing of lower layers is left.
  std::set<std::string> cleared_;
  int64_t entry_count_ = 0;
  int64_t unpacked_bytes_ = 0;
};

}  // namespace footprint

// Tested by unpack_image_test.

#endif  // FOOTPRINT_GATES_IMAGES_LAYER_UNPACKER_H_
