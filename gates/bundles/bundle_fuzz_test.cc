// Reads any bytes as an archive and as a manifest: they are refused, or give a
// manifest that names files.

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/gates/bundles/bundle.h"

namespace footprint {
namespace bundle_fuzz_test {

void RequireSense(const absl::StatusOr<BundleManifest>& manifest) {
  if (!manifest.ok()) return RequireRefusal(manifest.status());
  Require(manifest->schema_version() == 1, "a manifest has a known version");
  Require(!manifest->entry().empty(), "a manifest names what is run");
  Require(manifest->entry()[0] != '/', "the entry lies in the bundle");
}

void ReadAnyBundle(absl::string_view bytes) {
  RequireSense(ParseManifest(bytes));
  BundleLimits limits;
  limits.unpacked_bytes = 1 << 20;
  limits.entries = 100;
  RequireSense(ReadBundle(MemoryFile(bytes).path(), limits));
}

FOOTPRINT_FUZZ_TARGET(ReadAnyBundle)

}  // namespace bundle_fuzz_test
}  // namespace footprint
