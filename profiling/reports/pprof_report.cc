#include "footprint/profiling/reports/pprof_report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/call_stacks/call_stack_profile.pb.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/runs/code_places.h"
#include "google/protobuf/io/gzip_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace footprint {
namespace {

class ProfileWriter {
 public:
  explicit ProfileWriter(const MeasuredRun& run)
      : run_(run), steps_(static_cast<size_t>(run.calls_size()) + 1) {
    Text("");
    AddType("peak_space", "bytes");
    AddType("peak_objects", "count");
    AddType("alloc_space", "bytes");
    AddType("alloc_objects", "count");
    AddType("inuse_space", "bytes");
    profile_.set_default_sample_type(Text("peak_space"));
    profile_.mutable_period_type()->set_type(Text("space"));
    profile_.mutable_period_type()->set_unit(Text("bytes"));
    profile_.set_period(std::max<int64_t>(1, run.sampling_interval_bytes()));
    profile_.set_time_nanos(run.begin_unix_time_ns());
    profile_.set_duration_nanos(run.wall_time_ns());
    profile_.add_comment(Text(absl::StrJoin(run.program(), " ")));
  }

  void AddImage(const MeasuredImage& image) {
    constexpr size_t kMaxCommandBytes = 60;
    const std::string process = absl::StrCat(
        image.process_id(), " ", ShortCommand(image, kMaxCommandBytes));
    for (const SiteAmounts& site : image.sites()) {
      StackSample* const sample = profile_.add_sample();
      AddLocations(site.call(), sample);
      sample->add_value(site.at_peak().bytes());
      sample->add_value(site.at_peak().count());
      sample->add_value(site.allocated().bytes());
      sample->add_value(site.allocated().count());
      sample->add_value(site.at_end().bytes());
      AddLabel("process", process, sample);
      AddLabel("thread", absl::StrCat(ThreadNumber(image, site.thread())),
               sample);
      if (site.stage() != 0) {
        AddLabel("stage", image.stages(static_cast<int>(site.stage())).name(),
                 sample);
      }
    }
  }

  const CallStackProfile& profile() const { return profile_; }

 private:
  static uint32_t ThreadNumber(const MeasuredImage& image, uint32_t thread) {
    return thread == 0 ? 0 : image.threads(static_cast<int>(thread)).number();
  }

  int64_t Text(const std::string& text) {
    const auto [found, is_new] =
        texts_.emplace(text, profile_.string_table_size());
    if (is_new) profile_.add_string_table(text);
    return found->second;
  }

  void AddType(const char* type, const char* unit) {
    StackValueType* const added = profile_.add_sample_type();
    added->set_type(Text(type));
    added->set_unit(Text(unit));
  }

  void AddLabel(const char* key, const std::string& text, StackSample* sample) {
    StackLabel* const label = sample->add_label();
    label->set_key(Text(key));
    label->set_str(Text(text));
  }

  // Adds the locations of a stack, innermost first.
  void AddLocations(uint32_t call, StackSample* sample) {
    if (call == 0) {
      sample->add_location_id(
          Location({&CodePlaces::FrameBeforeRecord()}, "0"));
    }
    while (call != 0) {
      const Step step = StepFrom(call);
      sample->add_location_id(step.location);
      call = step.caller;
    }
  }

  // Leads from a call to the location that contains its code, and to that
  // location's caller. An inlined call belongs to the location of the call
  // around it.
  struct Step {
    uint64_t location = 0;  // 0 if not known yet
    uint32_t caller = 0;
  };

  const Step& StepFrom(uint32_t call) {
    Step& step = steps_[call];
    if (step.location != 0) return step;
    std::vector<const CodeFrame*> frames;
    std::string key;
    do {
      const uint32_t frame = CallAt(call).frame();
      frames.push_back(&run_.frames(static_cast<int>(frame)));
      absl::StrAppend(&key, frame + 1, ",");
      call = CallAt(call).parent();
    } while (frames.back()->is_inlined() && call != 0);
    step = {Location(frames, key), call};
    return step;
  }

  const Call& CallAt(uint32_t call) const {
    return run_.calls(static_cast<int>(call) - 1);
  }

  uint64_t Location(const std::vector<const CodeFrame*>& frames,
                    const std::string& key) {
    const auto [found, is_new] =
        locations_.emplace(key, profile_.location_size() + 1);
    if (!is_new) return found->second;
    StackLocation* const location = profile_.add_location();
    location->set_id(found->second);
    location->set_address(frames.back()->address());
    location->set_mapping_id(Mapping(*frames.back()));
    for (const CodeFrame* const frame : frames) {
      StackLine* const line = location->add_line();
      line->set_function_id(Function(*frame));
      line->set_line(frame->line());
    }
    return found->second;
  }

  // Returns 0 if the frame has no module.
  uint64_t Mapping(const CodeFrame& frame) {
    if (frame.module().empty()) return 0;
    const auto [found, is_new] =
        mappings_.emplace(frame.module(), profile_.mapping_size() + 1);
    if (is_new) {
      StackMapping* const mapping = profile_.add_mapping();
      mapping->set_id(found->second);
      mapping->set_filename(Text(frame.module()));
      mapping->set_has_functions(true);
      mapping->set_has_filenames(true);
      mapping->set_has_line_numbers(true);
      mapping->set_has_inline_frames(true);
    }
    if (!frame.build_id().empty()) {
      profile_.mutable_mapping(static_cast<int>(found->second) - 1)
          ->set_build_id(Text(frame.build_id()));
    }
    return found->second;
  }

  uint64_t Function(const CodeFrame& frame) {
    const auto [found, is_new] =
        functions_.emplace(std::pair(frame.function(), frame.file()),
                           profile_.function_size() + 1);
    if (is_new) {
      StackFunction* const function = profile_.add_function();
      function->set_id(found->second);
      function->set_name(Text(frame.function()));
      function->set_system_name(Text(frame.function()));
      function->set_filename(Text(frame.file()));
    }
    return found->second;
  }

  const MeasuredRun& run_;
  std::vector<Step> steps_;  // Indexed by call.
  CallStackProfile profile_;
  std::unordered_map<std::string, int64_t> texts_;
  // The locations' IDs by their frames, innermost first.
  std::unordered_map<std::string, uint64_t> locations_;
  std::unordered_map<std::string, uint64_t> mappings_;
  std::map<std::pair<std::string, std::string>, uint64_t> functions_;
};

std::string Gzipped(const CallStackProfile& profile) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::GzipOutputStream gzip(&stream);
  profile.SerializeToZeroCopyStream(&gzip);
  gzip.Close();
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> PprofReport(const MeasuredRun& run) {
  if (std::none_of(
          run.images().begin(), run.images().end(),
          [](const MeasuredImage& image) { return image.has_sites(); })) {
    return absl::FailedPreconditionError(
        "pprof's format needs call sites, and none were recorded: measure "
        "with --sampling=BYTES");
  }
  ProfileWriter writer(run);
  for (const MeasuredImage& image : run.images()) writer.AddImage(image);
  return Gzipped(writer.profile());
}

}  // namespace footprint
