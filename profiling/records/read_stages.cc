#include "footprint/profiling/records/read_stages.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/records/record_file_reader.h"
#include "footprint/profiling/records/stage_record.h"

namespace footprint {
namespace {

using profiling_internal::kMaxStages;
using profiling_internal::kStageMagic;
using profiling_internal::StageFile;
using profiling_internal::StageKind;
using profiling_internal::StageRecord;

// The bytes before the stages.
constexpr size_t kHeadBytes = offsetof(StageFile, stages);

struct alignas(StageFile) FileHead {
  char bytes[kHeadBytes];

  const StageFile& file() const {
    return *reinterpret_cast<const StageFile*>(bytes);
  }
};

StageFigures::Kind ToKind(StageKind kind) {
  switch (kind) {
    case StageKind::kNamed:
      return StageFigures::NAMED;
    case StageKind::kImport:
      return StageFigures::IMPORT;
    case StageKind::kFile:
      return StageFigures::FILE;
    default:
      return StageFigures::NONE;
  }
}

// Returns whether the peak's stage is this one or inside it.
bool HasPeak(uint32_t stage, uint32_t peak_stage, const MeasuredImage& image) {
  while (peak_stage > stage &&
         peak_stage < static_cast<uint32_t>(image.stages_size())) {
    peak_stage = image.stages(static_cast<int>(peak_stage)).parent();
  }
  return peak_stage == stage;
}

void SetStage(const StageRecord& record, StageFigures* stage) {
  stage->set_name(EscapeForProto(
      std::string(record.name, strnlen(record.name, sizeof(record.name)))));
  stage->set_parent(record.parent);
  stage->set_kind(ToKind(record.kind));
  stage->set_visit_count(record.visit_count.load());
  stage->set_begin_time_ns(record.begin_time_ns);
  stage->set_wall_time_ns(record.wall_time_ns.load());
#define FOOTPRINT_SET(field, ...) stage->set_##field(record.field.load());
  FOOTPRINT_STAGE_METRICS(FOOTPRINT_SET)
#undef FOOTPRINT_SET
  stage->set_lacks_last_visit(record.open_visit_count.load() > 0);
  stage->set_is_inherited(record.is_inherited != 0);
  stage->set_was_left_open(
      !stage->is_inherited() &&
      (stage->lacks_last_visit() || record.left_open_count.load() > 0));
  stage->set_unmeasured_visit_count(record.unmeasured_visit_count.load());
}

// Gives the process's peak to the open visit if no ended visit has it.
void GivePeakToOpenVisit(const StageRecord& record, int64_t peak_bytes,
                         StageFigures* stage) {
  if (stage->peak_live_absolute_bytes() >= peak_bytes) return;
  stage->set_peak_live_absolute_bytes(peak_bytes);
  stage->set_peak_live_bytes(
      std::max(stage->peak_live_bytes(),
               peak_bytes - record.last_begin_live_bytes.load()));
}

absl::Status AddStages(const RecordFileReader& file,
                       const std::vector<StageRecord>& records,
                       const StagePeak& peak, MeasuredImage* image) {
  for (const StageRecord& record : records) {
    const auto count = static_cast<uint32_t>(image->stages_size());
    if (record.parent > count || (record.parent == count && count != 0)) {
      return file.Damaged("a stage is inside of a later one");
    }
    SetStage(record, image->add_stages());
  }
  for (int i = 1; i < image->stages_size(); ++i) {
    const auto number = static_cast<uint32_t>(i);
    if (image->stages(i).lacks_last_visit() &&
        HasPeak(number, peak.stage, *image)) {
      GivePeakToOpenVisit(records[number], peak.live_bytes,
                          image->mutable_stages(i));
    }
  }
  return absl::OkStatus();
}

void AddNotesOfStages(MeasuredImage* image) {
  for (const StageFigures& stage : image->stages()) {
    if (!stage.was_left_open() || stage.kind() == StageFigures::FILE) continue;
    image->add_notes(
        stage.lacks_last_visit()
            ? absl::StrCat("stage \"", stage.name(),
                           "\" was still open when the process was killed, "
                           "measured or replaced by another program: its "
                           "figures lack that visit, except for the process's "
                           "peak")
            : absl::StrCat("stage \"", stage.name(),
                           "\" was not ended: it counts up to the end of the "
                           "process"));
  }
}

std::string FindStageName(const MeasuredImage& image, uint32_t stage) {
  return stage < static_cast<uint32_t>(image.stages_size())
             ? image.stages(static_cast<int>(stage)).name()
             : std::string("?");
}

void AddNotesOfFile(const StageFile& file, MeasuredImage* image) {
  if (const int64_t count = file.crossed_end_count.load(); count > 0) {
    image->add_notes(absl::StrCat(
        "stage \"", FindStageName(*image, file.first_crossed_stage.load()),
        "\" ended before \"",
        FindStageName(*image, file.first_stage_inside.load()),
        "\", which began inside it (", count,
        " ends in all were out of order): their figures overlap"));
  }
  if (const int64_t count = file.needless_end_count.load(); count > 0) {
    image->add_notes(
        absl::StrCat(count, " ends of a stage matched no open stage"));
  }
  if (const int64_t count = file.other_thread_end_count.load(); count > 0) {
    image->add_notes(absl::StrCat(
        count, " ends of a stage came from another thread than its begin"));
  }
  if (const int64_t count = file.unrecorded_visit_count.load(); count > 0) {
    image->add_notes(absl::StrCat(
        count,
        " visits of stages were not recorded: too many were open at once"));
  }
  if (file.is_full.load() != 0) {
    image->add_notes(
        "there are too many different stages, or the disk was full: some stand "
        "together under \"[more ...]\" or nowhere");
  }
}

}  // namespace

absl::Status ReadStages(const std::string& path, const StagePeak& process_peak,
                        MeasuredImage* image) {
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
  status = AddStages(file, records, process_peak, image);
  if (!status.ok()) return status;
  AddNotesOfStages(image);
  AddNotesOfFile(head->file(), image);
  return absl::OkStatus();
}

}  // namespace footprint
