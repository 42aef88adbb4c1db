#include "footprint/profiling/records/stage_profile.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/profiling/records/record_file_reader.h"
#include "footprint/profiling/records/stage_record.h"

namespace footprint {
namespace {

using profiling_internal::kMaxStages;
using profiling_internal::kStageMagic;
using profiling_internal::StageFile;
using profiling_internal::StageKind;
using profiling_internal::StageRecord;

// Bytes in front of the stages.
constexpr size_t kHeadBytes = offsetof(StageFile, stages);

struct alignas(StageFile) FileHead {
  char bytes[kHeadBytes];

  const StageFile& file() const {
    return *reinterpret_cast<const StageFile*>(bytes);
  }
};

StageProfile::Kind ToKind(StageKind kind) {
  switch (kind) {
    case StageKind::kNamed:
      return StageProfile::Kind::kNamed;
    case StageKind::kImport:
      return StageProfile::Kind::kImport;
    case StageKind::kFile:
      return StageProfile::Kind::kFile;
    default:
      return StageProfile::Kind::kNone;
  }
}

// Whether the peak's stage is this one or inside of it.
bool HasPeak(uint32_t stage, uint32_t peak_stage,
             const std::vector<StageProfile::Stage>& stages) {
  while (peak_stage > stage && peak_stage < stages.size()) {
    peak_stage = stages[peak_stage].parent;
  }
  return peak_stage == stage;
}

StageProfile::Stage ToStage(const StageRecord& record) {
  StageProfile::Stage stage;
  stage.name =
      std::string(record.name, strnlen(record.name, sizeof(record.name)));
  stage.parent = record.parent;
  stage.kind = ToKind(record.kind);
  stage.visit_count = record.visit_count.load();
  stage.begin_time_ns = record.begin_time_ns;
  stage.wall_time_ns = record.wall_time_ns.load();
  stage.peak_live_bytes = record.peak_live_net_bytes.load();
  stage.peak_live_absolute_bytes = record.peak_live_absolute_bytes.load();
  stage.allocated_bytes = record.allocated_bytes.load();
  stage.allocation_count = record.allocation_count.load();
  stage.net_growth_bytes = record.net_growth_bytes.load();
  stage.lacks_last_visit = record.open_visit_count.load() > 0;
  stage.is_inherited = record.is_inherited != 0;
  stage.was_left_open =
      !stage.is_inherited &&
      (stage.lacks_last_visit || record.left_open_count.load() > 0);
  stage.unmeasured_visit_count = record.unmeasured_visit_count.load();
  return stage;
}

// A peak of the process that no visit that ended had is of the one that did
// not.
void GivePeakToOpenVisit(const StageRecord& record, int64_t peak_bytes,
                         StageProfile::Stage* stage) {
  if (stage->peak_live_absolute_bytes >= peak_bytes) return;
  stage->peak_live_absolute_bytes = peak_bytes;
  stage->peak_live_bytes = std::max(
      stage->peak_live_bytes, peak_bytes - record.last_begin_live_bytes.load());
}

absl::Status AddStages(const RecordFileReader& file,
                       const std::vector<StageRecord>& records,
                       const StagePeak& peak,
                       std::vector<StageProfile::Stage>* stages) {
  for (const StageRecord& record : records) {
    if (record.parent > stages->size() ||
        (record.parent == stages->size() && record.parent != 0)) {
      return file.Damaged("a stage is inside of a later one");
    }
    stages->push_back(ToStage(record));
  }
  for (uint32_t i = 1; i < stages->size(); ++i) {
    if ((*stages)[i].lacks_last_visit && HasPeak(i, peak.stage, *stages)) {
      GivePeakToOpenVisit(records[i], peak.live_bytes, &(*stages)[i]);
    }
  }
  return absl::OkStatus();
}

void AddNotesOfStages(StageProfile* profile) {
  for (const StageProfile::Stage& stage : profile->stages) {
    if (!stage.was_left_open || stage.kind == StageProfile::Kind::kFile) {
      continue;
    }
    profile->notes.push_back(
        stage.lacks_last_visit
            ? absl::StrCat("stage \"", stage.name,
                           "\" had not ended when the process was killed, "
                           "looked at or became another program: its figures "
                           "lack that visit, except for the process's peak")
            : absl::StrCat("stage \"", stage.name,
                           "\" was not ended: it counts up to the end of the "
                           "process"));
  }
}

std::string NameOf(const StageProfile& profile, uint32_t stage) {
  return stage < profile.stages.size() ? profile.stages[stage].name
                                       : std::string("?");
}

void AddNotesOfFile(const StageFile& file, StageProfile* profile) {
  std::vector<std::string>& notes = profile->notes;
  if (const int64_t count = file.crossed_end_count.load(); count > 0) {
    notes.push_back(absl::StrCat(
        "stage \"", NameOf(*profile, file.first_crossed_stage.load()),
        "\" ended before \"", NameOf(*profile, file.first_stage_inside.load()),
        "\", which began inside of it (", count,
        " ends in all came out of order): what they needed overlaps"));
  }
  if (const int64_t count = file.needless_end_count.load(); count > 0) {
    notes.push_back(
        absl::StrCat(count, " ends of a stage came where none was open"));
  }
  if (const int64_t count = file.other_thread_end_count.load(); count > 0) {
    notes.push_back(absl::StrCat(
        count, " ends of a stage came from another thread than its begin"));
  }
  if (const int64_t count = file.unrecorded_visit_count.load(); count > 0) {
    notes.push_back(absl::StrCat(
        count, " visits of stages found no room: too many were open at once"));
  }
  if (file.is_full.load() != 0) {
    notes.push_back(
        "there are too many different stages, or the disk was full: some stand "
        "together under \"[more ...]\" or nowhere");
  }
}

}  // namespace

absl::StatusOr<StageProfile> ReadStageProfile(const std::string& path,
                                              const StagePeak& process_peak) {
  const RecordFileReader file(path);
  const auto head = std::make_unique<FileHead>();
  absl::Status status =
      file.ReadHead(kStageMagic, "stages", kHeadBytes, head->bytes);
  if (!status.ok()) return status;
  const uint32_t count = head->file().stage_count.load();
  if (count == 0 || count > kMaxStages) {
    return file.Damaged("there are more stages than there can be, or none");
  }
  std::vector<StageRecord> records(count);
  status = file.Read(kHeadBytes, count * sizeof(StageRecord), records.data());
  if (!status.ok()) return status;
  StageProfile profile;
  status = AddStages(file, records, process_peak, &profile.stages);
  if (!status.ok()) return status;
  AddNotesOfStages(&profile);
  AddNotesOfFile(head->file(), &profile);
  return profile;
}

}  // namespace footprint
