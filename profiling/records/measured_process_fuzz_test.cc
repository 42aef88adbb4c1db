// Reads arbitrary bytes as an agent's record of a process, and as its list of
// objects.

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/profiling/records/file_patches.h"
#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/records/process_record.h"

namespace footprint {
namespace {

using profiling_internal::kRecordMagic;
using profiling_internal::ProcessRecord;

// A folder that is deleted when the process ends.
class Folder {
 public:
  Folder() {
    std::string path =
        (std::filesystem::temp_directory_path() / "records_XXXXXX").string();
    Require(mkdtemp(path.data()) != nullptr, "a folder can be made");
    path_ = path;
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Returns `bytes` with the patches of part `part`, as a file would have them.
std::string Patched(const std::vector<FilePatch>& patches, int part,
                    std::string bytes) {
  for (const FilePatch& patch : patches) {
    if (patch.part != part) continue;
    const auto offset = static_cast<size_t>(patch.offset_bytes);
    if (offset + patch.bytes.size() > bytes.size()) {
      bytes.resize(offset + patch.bytes.size());
    }
    bytes.replace(offset, patch.bytes.size(), patch.bytes.data(),
                  patch.bytes.size());
  }
  return bytes;
}

void Write(const std::string& path, absl::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void ReadAnyRecord(absl::string_view input) {
  static const Folder folder;
  const std::vector<FilePatch> patches = ParsePatches(input);
  std::string record(sizeof(ProcessRecord), '\0');
  record.replace(0, sizeof(kRecordMagic),
                 reinterpret_cast<const char*>(&kRecordMagic),
                 sizeof(kRecordMagic));
  Write(folder.path() + "/1.0.record", Patched(patches, 0, record));
  Write(folder.path() + "/1.0.objects", Patched(patches, 1, ""));
  const absl::StatusOr<std::vector<MeasuredProcess>> processes =
      ReadRecords(folder.path());
  if (!processes.ok()) return RequireRefusal(processes.status());
  Require(processes->size() <= 1, "one record is one process");
  for (const MeasuredProcess& process : *processes) {
    Require(process.figures.executable().size() <=
                sizeof(ProcessRecord::executable),
            "a name fits its room");
    size_t words = 0;
    for (const std::string& word : process.figures.command_line())
      words += word.size();
    Require(words <= sizeof(ProcessRecord::command_line),
            "a command line fits its room");
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyRecord)

}  // namespace footprint
