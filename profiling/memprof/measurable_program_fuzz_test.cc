// Any bytes as a program or a script that is to be measured.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/profiling/memprof/measurable_program.h"

namespace footprint {
namespace {

void LookAtAnyProgram(absl::string_view bytes) {
  const MemoryFile file(bytes);
  const absl::StatusOr<std::string> path = FindMeasurableProgram(file.path());
  if (!path.ok()) return RequireRefusal(path.status());
  Require(*path == file.path(), "a path stays as it is");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(LookAtAnyProgram)

}  // namespace footprint
