// Applies any bytes as a layer, over a folder with links that lead out: it is
// refused, or it fits the limits, and the folder beside stays as it was.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "footprint/gates/images/layer_unpacker.h"
#include "footprint/gates/images/root_folder.h"

namespace footprint {
namespace layer_fuzz_test {

constexpr int64_t kMostEntries = 100;

int CountNames(const std::string& folder) {
  DIR* const stream = opendir(folder.c_str());
  Require(stream != nullptr, "the folder exists");
  int count = 0;
  while (readdir(stream) != nullptr) ++count;
  closedir(stream);
  return count;
}

void ApplyAnyLayer(absl::string_view bytes) {
  TemporaryFolder folder;
  Require(folder.Create(TemporaryFolderParent(), "layer").ok(), "a folder");
  mkdir(folder.Path("beside").c_str(), 0755);
  absl::StatusOr<RootFolder> root =
      RootFolder::Make(folder.Path("root"), geteuid());
  Require(root.ok(), "a root");
  Require(root->MakeSymbolicLink("a", folder.Path("beside")).ok(), "a link");
  Require(root->MakeSymbolicLink("b", "../beside").ok(), "a link");
  Require(root->MakeFile("c/d", true).ok(), "a file");
  BundleLimits limits;
  limits.unpacked_bytes = 1 << 20;
  limits.entries = kMostEntries;
  const MemoryFile file(bytes);
  LayerUnpacker layer("the layer", limits, &*root);
  const absl::Status status =
      layer.Apply({file.descriptor(), 0, static_cast<int64_t>(bytes.size())},
                  Sha256Hex(bytes), EndOfTime(limits));
  if (!status.ok()) RequireRefusal(status);
  Require(layer.unpacked_bytes() <= limits.unpacked_bytes, "bytes are bounded");
  // An entry makes at most as many files as its name has parts.
  Require(root->made_count() <= kMostEntries + limits.path_depth + 4,
          "files are bounded");
  Require(CountNames(folder.Path("beside")) == 2, "nothing is beside");
  Require(CountNames(folder.path()) == 4, "nothing is outside");
}

FOOTPRINT_FUZZ_TARGET(ApplyAnyLayer)

}  // namespace layer_fuzz_test
}  // namespace footprint
