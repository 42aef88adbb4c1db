#include "footprint/profiling/runs/stage_figures.h"

#include <string>

#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

StageFigures::Kind ToKind(StageProfile::Kind kind) {
  switch (kind) {
    case StageProfile::Kind::kNamed:
      return StageFigures::NAMED;
    case StageProfile::Kind::kImport:
      return StageFigures::IMPORT;
    case StageProfile::Kind::kFile:
      return StageFigures::FILE;
    case StageProfile::Kind::kNone:
      break;
  }
  return StageFigures::NONE;
}

void SetStage(const StageProfile::Stage& stage, StageFigures* figures) {
  figures->set_name(EscapeForProto(stage.name));
  figures->set_parent(stage.parent);
  figures->set_kind(ToKind(stage.kind));
  figures->set_visit_count(stage.visit_count);
  figures->set_begin_time_ns(stage.begin_time_ns);
  figures->set_wall_time_ns(stage.wall_time_ns);
  figures->set_peak_live_bytes(stage.peak_live_bytes);
  figures->set_peak_live_absolute_bytes(stage.peak_live_absolute_bytes);
  figures->set_allocated_bytes(stage.allocated_bytes);
  figures->set_allocation_count(stage.allocation_count);
  figures->set_net_growth_bytes(stage.net_growth_bytes);
  figures->set_was_left_open(stage.was_left_open);
  figures->set_lacks_last_visit(stage.lacks_last_visit);
  figures->set_unmeasured_visit_count(stage.unmeasured_visit_count);
  figures->set_is_inherited(stage.is_inherited);
}

}  // namespace

void SetStages(const StageProfile& profile, MeasuredImage* image) {
  for (const StageProfile::Stage& stage : profile.stages) {
    SetStage(stage, image->add_stages());
  }
  for (const std::string& note : profile.notes) {
    image->add_notes(EscapeForProto(note));
  }
}

}  // namespace footprint
