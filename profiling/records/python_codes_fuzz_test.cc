// Reads arbitrary entries in an agent's file of Python functions.

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/profiling/records/file_patches.h"
#include "footprint/profiling/records/python_codes.h"
#include "footprint/profiling/records/python_record.h"

namespace footprint {
namespace {

using profiling_internal::kMaxPythonTextBytes;
using profiling_internal::kPythonMagic;
using profiling_internal::PythonRecord;

void ReadAnyFile(absl::string_view input) {
  const MemoryFile file("");
  BeginFile(kPythonMagic, sizeof(PythonRecord), file);
  ApplyPatches(ParsePatches(input), /*first_part=*/0,
               {8, offsetof(PythonRecord, codes), offsetof(PythonRecord, text)},
               file);
  const absl::StatusOr<PythonCodes> python = ReadPythonCodes(file.path());
  if (!python.ok()) return RequireRefusal(python.status());
  size_t text_bytes = 0;
  for (const PythonCodes::Code& code : python->codes) {
    text_bytes += code.line_table.size();
  }
  Require(text_bytes <= kMaxPythonTextBytes, "a file's texts fit into it");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFile)

}  // namespace footprint
