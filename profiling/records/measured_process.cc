#include "footprint/profiling/records/measured_process.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/records/growth_record.h"
#include "footprint/profiling/records/process_record.h"
#include "footprint/profiling/records/read_stages.h"
#include "footprint/profiling/records/stack_tallies_record.h"

namespace footprint {
namespace {

using profiling_internal::kCopiesContent;
using profiling_internal::kGrowthContent;
using profiling_internal::kProcessorTimeContent;
using profiling_internal::kRecordMagic;
using profiling_internal::ProcessEnd;
using profiling_internal::ProcessRecord;

constexpr char kRecordSuffix[] = ".record";
constexpr char kSitesSuffix[] = ".sites";
constexpr char kObjectsSuffix[] = ".objects";
constexpr char kPythonSuffix[] = ".python";
constexpr char kStagesSuffix[] = ".stages";

// Returns the text before its null character, or the whole array if it has
// none.
template <size_t capacity>
std::string Text(const char (&text)[capacity]) {
  return std::string(text, strnlen(text, capacity));
}

std::vector<std::string> CommandLine(const ProcessRecord& record) {
  // The file may be damaged, so the size is checked.
  const int32_t size =
      std::clamp<int32_t>(record.command_line_size, 0,
                          static_cast<int32_t>(sizeof(record.command_line)));
  absl::string_view words(record.command_line, static_cast<size_t>(size));
  if (absl::EndsWith(words, absl::string_view("\0", 1))) {
    words.remove_suffix(1);
  }
  return absl::StrSplit(words, '\0');
}

MeasuredImage::End ReadEnd(const ProcessRecord& record) {
  switch (record.end.load()) {
    case ProcessEnd::kNone:
      return MeasuredImage::KILLED;
    case ProcessEnd::kAtOnce:
      return MeasuredImage::EXITED_AT_ONCE;
    default:
      return MeasuredImage::EXITED;
  }
}

void SetTotals(const ProcessRecord& record, MeasuredImage* image) {
#define FOOTPRINT_SET(field, ...) \
  image->set_##field(             \
      static_cast<decltype(image->field())>(record.field.load()));
  FOOTPRINT_PROCESS_METRICS(FOOTPRINT_SET)
#undef FOOTPRINT_SET
}

void SetFigures(const ProcessRecord& record, MeasuredImage* image) {
  image->set_process_id(record.process_id);
  image->set_parent_process_id(record.parent_process_id);
  image->set_image(record.image);
  image->set_is_fork(record.is_fork != 0);
  image->set_allocator(EscapeForProto(Text(record.allocator)));
  image->set_executable(EscapeForProto(Text(record.executable)));
  for (const std::string& word : CommandLine(record)) {
    image->add_command_line(EscapeForProto(word));
  }
  image->set_begin_time_ns(record.begin_time_ns);
  image->set_end_time_ns(record.end_time_ns.load());
  // A process that never allocates more than it had at its begin stores no time
  // of a peak, and the clock of a peak is coarser than that of the begin.
  image->set_peak_time_ns(
      std::max(record.begin_time_ns, record.heap.peak_time_ns.load()));
  image->set_peak_live_bytes(record.heap.peak_live_bytes.load());
  image->set_inherited_live_bytes(record.inherited_live_bytes);
  image->set_peak_mapped_bytes(record.heap.peak_mapped_bytes.load());
  image->set_lost_child_count(record.lost_child_count.load());
  image->set_has_foreign_new(record.has_foreign_new != 0);
  image->set_end(ReadEnd(record));
  image->set_has_totals(image->end() != MeasuredImage::KILLED);
  if (image->has_totals()) SetTotals(record, image);
}

// Reads the list of loaded objects. The list stays empty if there is no file,
// because the process did not end by exit.
void ReadObjectList(const std::string& path, MeasuredProcess* process) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return;
  process->loaded_objects = absl::StrSplit(*text, '\n', absl::SkipEmpty());
}

// Returns the path of the file with this suffix beside a record.
std::string Beside(const std::string& record_path, absl::string_view suffix) {
  return absl::StrCat(absl::StripSuffix(record_path, kRecordSuffix), suffix);
}

// Reads the samples beside the record at `path`, unless none were taken.
absl::Status ReadSamples(const std::string& path, const char* content,
                         std::optional<StackTallies>* samples) {
  absl::StatusOr<StackTallies> tallies =
      ReadStackTallies(Beside(path, absl::StrCat(".", content)), content);
  if (absl::IsNotFound(tallies.status())) return absl::OkStatus();
  if (!tallies.ok()) return tallies.status();
  *samples = *std::move(tallies);
  return absl::OkStatus();
}

// Reads the growth of the sites, which must be known, unless it was not
// recorded.
absl::Status ReadGrowth(const std::string& path, MeasuredProcess* process) {
  absl::StatusOr<GrowthProfile> growth = ReadGrowthProfile(
      absl::StrCat(absl::StripSuffix(path, kRecordSuffix), ".", kGrowthContent),
      *process->sites);
  if (absl::IsNotFound(growth.status())) return absl::OkStatus();
  if (!growth.ok()) return growth.status();
  process->growth = *std::move(growth);
  return absl::OkStatus();
}

absl::Status ReadFilesBeside(const std::string& path,
                             const ProcessRecord& record,
                             MeasuredProcess* process) {
  if (record.has_sites != 0) {
    absl::StatusOr<SiteProfile> sites = ReadSiteProfile(
        Beside(path, kSitesSuffix), record.heap.peak_count.load(),
        record.heap.recent_peak_count.load());
    if (!sites.ok()) return sites.status();
    process->sites = *std::move(sites);
    absl::Status status = ReadGrowth(path, process);
    if (!status.ok()) return status;
  }
  if (record.has_stages != 0) {
    const absl::Status status =
        ReadStages(Beside(path, kStagesSuffix),
                   {process->figures.peak_live_bytes(), process->peak_stage},
                   &process->figures);
    if (!status.ok()) return status;
  }
  absl::Status status =
      ReadSamples(path, kProcessorTimeContent, &process->processor_time);
  status.Update(ReadSamples(path, kCopiesContent, &process->copies));
  if (!status.ok()) return status;
  absl::StatusOr<PythonCodes> python =
      ReadPythonCodes(Beside(path, kPythonSuffix));
  if (python.ok()) {
    process->python = *std::move(python);
  } else if (!absl::IsNotFound(python.status())) {
    return python.status();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> RecordPaths(
    const std::string& folder) {
  DIR* const directory = opendir(folder.c_str());
  if (directory == nullptr) return FileError(errno, folder, "cannot be listed");
  std::vector<std::string> paths;
  while (const dirent* entry = readdir(directory)) {
    if (absl::EndsWith(entry->d_name, kRecordSuffix)) {
      paths.push_back(absl::StrCat(folder, "/", entry->d_name));
    }
  }
  closedir(directory);
  return paths;
}

}  // namespace

// Reads one record. Returns nothing if the file is empty or has no magic number
// yet: the process was killed in its first microseconds, is just starting, or
// found no room for its record. Its parent's record counts the last case.
absl::StatusOr<std::optional<MeasuredProcess>> ReadRecord(
    const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (!bytes.ok()) return bytes.status();
  if (bytes->empty()) return std::nullopt;
  if (bytes->size() != sizeof(ProcessRecord)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": no record of this version's agent: ", bytes->size(),
        " bytes, not ", sizeof(ProcessRecord)));
  }
  auto record = std::make_unique<ProcessRecord>();
  // The members are atomic, but no other thread sees this copy.
  std::memcpy(static_cast<void*>(record.get()), bytes->data(), bytes->size());
  if (record->magic == 0) return std::nullopt;
  if (record->magic != kRecordMagic) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": no record of this version's agent"));
  }
  MeasuredProcess process;
  SetFigures(*record, &process.figures);
  process.peak_stage = record->heap.peak_stage.load();
  process.has_recent_peak = record->heap.recent_peak_restart_count.load() > 0;
  ReadObjectList(Beside(path, kObjectsSuffix), &process);
  absl::Status status = ReadFilesBeside(path, *record, &process);
  if (!status.ok()) return status;
  return process;
}

absl::StatusOr<std::vector<MeasuredProcess>> ReadRecords(
    const std::string& folder) {
  absl::StatusOr<std::vector<std::string>> paths = RecordPaths(folder);
  if (!paths.ok()) return paths.status();
  std::vector<MeasuredProcess> processes;
  for (const std::string& path : *paths) {
    absl::StatusOr<std::optional<MeasuredProcess>> process = ReadRecord(path);
    if (!process.ok()) return process.status();
    if (process->has_value()) processes.push_back(**std::move(process));
  }
  std::sort(processes.begin(), processes.end(),
            [](const MeasuredProcess& a, const MeasuredProcess& b) {
              const auto key_of = [](const MeasuredImage& image) {
                return std::make_tuple(image.begin_time_ns(),
                                       image.process_id(), image.image());
              };
              return key_of(a.figures) < key_of(b.figures);
            });
  return processes;
}

}  // namespace footprint
