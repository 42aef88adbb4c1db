#include "footprint/profiling/runs/measured_run_file.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/sealed_proto_file.h"

namespace footprint {
namespace {

constexpr SealedProtoFormat kFormat = {
    "measured run", kMeasuredRunSchemaVersion,
    "measure again: memprof --record=FILE PROGRAM"};

absl::Status Wrong(absl::string_view what, int64_t index) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", index, " does not exist"));
}

absl::Status CheckAmount(const Amount& amount) {
  if (std::isfinite(amount.variance()) && amount.variance() >= 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a variance is ", amount.variance()));
}

// Checks the indices that an image's entries name.
class IndexCheck {
 public:
  IndexCheck(const MeasuredRun& run, const MeasuredImage& image)
      : call_count_(run.calls_size()),
        thread_count_(image.threads_size()),
        stage_count_(image.stages_size()) {}

  absl::Status Call(uint32_t call) const {
    return call <= static_cast<uint32_t>(call_count_) ? absl::OkStatus()
                                                      : Wrong("call", call);
  }
  // 0 stands for no thread, even if the image lists none.
  absl::Status Thread(uint32_t thread) const {
    return thread == 0 || thread < static_cast<uint32_t>(thread_count_)
               ? absl::OkStatus()
               : Wrong("thread", thread);
  }
  absl::Status Stage(uint32_t stage) const {
    return stage == 0 || stage < static_cast<uint32_t>(stage_count_)
               ? absl::OkStatus()
               : Wrong("stage", stage);
  }

 private:
  int call_count_;
  int thread_count_;
  int stage_count_;
};

absl::Status CheckSites(const MeasuredImage& image, const IndexCheck& check) {
  for (const SiteAmounts& site : image.sites()) {
    absl::Status status = check.Call(site.call());
    status.Update(check.Thread(site.thread()));
    status.Update(check.Stage(site.stage()));
    status.Update(CheckAmount(site.at_peak()));
    status.Update(CheckAmount(site.at_end()));
    status.Update(CheckAmount(site.allocated()));
    if (!status.ok()) return status;
  }
  for (const MappingAmounts& mapping : image.mappings()) {
    absl::Status status = check.Call(mapping.call());
    status.Update(check.Stage(mapping.stage()));
    if (!status.ok()) return status;
  }
  for (const CopyAmounts& copy : image.copies()) {
    absl::Status status = check.Call(copy.call());
    status.Update(check.Stage(copy.stage()));
    status.Update(CheckAmount(copy.copied()));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckMoments(const MeasuredImage& image, const IndexCheck& check) {
  int64_t last_ns = 0;
  for (const LiveMoment& moment : image.moments()) {
    if (moment.calls_size() != moment.bytes_size() ||
        moment.time_ns() < last_ns) {
      return absl::InvalidArgumentError(
          absl::StrCat("the moment of ", moment.time_ns(), " ns has ",
                       moment.calls_size(), " calls and ", moment.bytes_size(),
                       " figures, after ", last_ns, " ns"));
    }
    last_ns = moment.time_ns();
    for (const uint32_t call : moment.calls()) {
      absl::Status status = check.Call(call);
      if (!status.ok()) return status;
    }
    for (const int64_t bytes : moment.bytes()) {
      if (bytes > 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("a call has ", bytes, " bytes at a moment"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTimes(const MeasuredImage& image, const IndexCheck& check) {
  int64_t last_ns = 0;
  for (const TimelinePoint& point : image.timeline()) {
    absl::Status status = check.Stage(point.stage());
    if (!status.ok()) return status;
    if (point.time_ns() < last_ns) {
      return absl::InvalidArgumentError(
          absl::StrCat("the timeline goes back from ", last_ns, " ns to ",
                       point.time_ns(), " ns"));
    }
    last_ns = point.time_ns();
  }
  for (const ProcessorTime& time : image.processor_time()) {
    absl::Status status = check.Call(time.call());
    status.Update(check.Thread(time.thread()));
    status.Update(check.Stage(time.stage()));
    if (!status.ok()) return status;
  }
  for (int i = 0; i < image.stages_size(); ++i) {
    const uint32_t parent = image.stages(i).parent();
    if (parent != 0 && parent >= static_cast<uint32_t>(i)) {
      return Wrong("stage", parent);
    }
  }
  return absl::OkStatus();
}

// Checks that figures are not negative, so that their differences fit.
absl::Status CheckSigns(const MeasuredImage& image) {
  for (int64_t figure : {image.begin_time_ns(), image.end_time_ns(),
                         image.peak_time_ns(), image.peak_live_bytes(),
                         image.inherited_live_bytes(), image.live_bytes()}) {
    if (figure < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a time or the bytes of a process are ", figure));
    }
  }
  for (const TimelinePoint& point : image.timeline()) {
    if (point.time_ns() < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a time is ", point.time_ns()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckImage(const MeasuredRun& run, const MeasuredImage& image) {
  const IndexCheck check(run, image);
  absl::Status status = CheckSigns(image);
  status.Update(CheckSites(image, check));
  status.Update(CheckTimes(image, check));
  status.Update(CheckMoments(image, check));
  for (const SuspectedLeak& leak : image.suspected_leaks()) {
    status.Update(check.Call(leak.call()));
  }
  return status;
}

}  // namespace

absl::Status CheckMeasuredRun(const MeasuredRun& run) {
  for (int i = 0; i < run.calls_size(); ++i) {
    const Call& call = run.calls(i);
    if (call.parent() > static_cast<uint32_t>(i)) {
      return Wrong("call", call.parent());
    }
    if (call.frame() >= static_cast<uint32_t>(run.frames_size())) {
      return Wrong("frame", call.frame());
    }
  }
  for (const MeasuredImage& image : run.images()) {
    absl::Status status = CheckImage(run, image);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<MeasuredRun> ReadMeasuredRunFile(const std::string& path) {
  MeasuredRun run;
  absl::Status status = ReadSealedProto(kFormat, path, &run);
  if (!status.ok()) return status;
  status = CheckMeasuredRun(run);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a consistent ", kFormat.noun, ": ",
                     status.message(), "; ", kFormat.advice));
  }
  return run;
}

absl::Status WriteMeasuredRunFile(const MeasuredRun& run,
                                  const std::string& path) {
  return WriteSealedProto(kFormat, run, path);
}

}  // namespace footprint
