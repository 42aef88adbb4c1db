#include "footprint/profiling/example_runs/random_run.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr int64_t kBeginNs = 1'000'000'000;

class RunMaker {
 public:
  explicit RunMaker(RandomSequence* random) : random_(*random) {}

  MeasuredRun Make() {
    run_.set_schema_version(1);
    run_.add_program("program");
    if (Chance()) run_.add_program("--strange=\u00e9<&>\n");
    run_.set_exit_status(Chance() ? 0 : Below(256));
    run_.set_wall_time_ns(Below(10'000'000'000));
    run_.set_sampling_interval_bytes(Chance() ? 0 : Below(1 << 20));
    const int frame_count = Below(12);
    for (int i = 0; i < frame_count; ++i) AddFrame(i);
    const int call_count = frame_count == 0 ? 0 : Below(40);
    for (int i = 0; i < call_count; ++i) {
      Call* const call = run_.add_calls();
      call->set_parent(static_cast<uint32_t>(Below(i + 1)));
      call->set_frame(static_cast<uint32_t>(Below(frame_count)));
    }
    for (int count = Below(4); count > 0; --count) AddImage();
    return run_;
  }

 private:
  int Below(int64_t limit) {
    return static_cast<int>(random_.Below(static_cast<uint64_t>(limit)) %
                            INT32_MAX);
  }
  bool Chance() { return Below(2) == 0; }

  void AddFrame(int i) {
    CodeFrame* const frame = run_.add_frames();
    frame->set_kind(static_cast<CodeFrame::Kind>(Below(6)));
    frame->set_function(absl::StrCat("Function", i));
    if (Chance()) {
      frame->set_file(absl::StrCat("/source/file", i, ".cc"));
      frame->set_line(Below(1000));
    }
    frame->set_module(Chance() ? "/bin/program" : "/lib/libother.so");
    frame->set_is_inlined(Chance());
  }

  void SetAmount(int64_t most_bytes, Amount* amount) {
    amount->set_bytes(Below(most_bytes));
    amount->set_count(Below(1000));
    if (run_.sampling_interval_bytes() > 0)
      amount->set_variance(Below(1 << 30));
  }

  void AddSite(MeasuredImage* image) {
    SiteAmounts* const site = image->add_sites();
    site->set_call(static_cast<uint32_t>(Below(run_.calls_size() + 1)));
    site->set_thread(static_cast<uint32_t>(Below(image->threads_size())));
    site->set_stage(static_cast<uint32_t>(Below(image->stages_size())));
    SetAmount(1 << 24, site->mutable_at_peak());
    SetAmount(1 << 20, site->mutable_at_end());
    SetAmount(1 << 28, site->mutable_allocated());
    site->set_temporary_count(Below(1000));
    site->set_at_recent_peak_bytes(site->at_peak().bytes() / 2);
  }

  void AddMapping(MeasuredImage* image) {
    MappingAmounts* const mapping = image->add_mappings();
    mapping->set_call(static_cast<uint32_t>(Below(run_.calls_size() + 1)));
    mapping->set_stage(static_cast<uint32_t>(Below(image->stages_size())));
    mapping->set_at_peak_bytes(1 + Below(1 << 24));
  }

  void AddMoment(MeasuredImage* image) {
    const int64_t time_ns =
        image->begin_time_ns() + image->moments_size() * int64_t{50'000};
    LiveMoment* const moment = image->add_moments();
    moment->set_time_ns(time_ns);
    for (int call = 0; call <= run_.calls_size(); ++call) {
      if (Chance()) continue;
      moment->add_calls(static_cast<uint32_t>(call));
      moment->add_bytes(1 + Below(1 << 20));
    }
  }

  void AddSites(MeasuredImage* image) {
    image->set_has_sites(true);
    for (int i = 0, count = 1 + Below(5); i < count; ++i) {
      image->add_threads()->set_number(static_cast<uint32_t>(i));
    }
    for (int i = 0, count = 1 + Below(5); i < count; ++i) {
      StageFigures* const stage = image->add_stages();
      if (i == 0) {
        stage->set_kind(StageFigures::NONE);
        continue;
      }
      stage->set_name(absl::StrCat("stage", i));
      stage->set_parent(static_cast<uint32_t>(Below(i)));
      stage->set_peak_live_bytes(Below(1 << 24));
    }
    int64_t peak_bytes = 0;
    for (int count = Below(60); count > 0; --count) {
      AddSite(image);
      const SiteAmounts& site = image->sites(image->sites_size() - 1);
      peak_bytes += site.at_peak().bytes();
      MeasuredThread* const thread =
          image->mutable_threads(static_cast<int>(site.thread()));
      thread->set_at_peak_bytes(thread->at_peak_bytes() +
                                site.at_peak().bytes());
    }
    image->set_peak_live_bytes(peak_bytes);
    for (int count = Below(10); count > 0; --count) AddMapping(image);
    for (int i = 0, count = 1 + Below(200); i < count; ++i) {
      TimelinePoint* const point = image->add_timeline();
      point->set_time_ns(image->begin_time_ns() + i * int64_t{1000});
      point->set_live_bytes(Below(peak_bytes + 1));
      point->set_stage(static_cast<uint32_t>(Below(image->stages_size())));
    }
    for (int i = 0, count = Below(5); i < count; ++i) AddMoment(image);
    TimelinePoint* const peak = image->add_timeline();
    peak->set_time_ns(image->begin_time_ns() + 1'000'000);
    peak->set_live_bytes(peak_bytes);
    image->set_peak_time_ns(peak->time_ns());
  }

  void AddImage() {
    MeasuredImage* const image = run_.add_images();
    image->set_process_id(1 + Below(30000));
    image->set_is_fork(Chance());
    image->set_executable("/bin/program");
    image->add_command_line("program");
    image->set_begin_time_ns(kBeginNs + Below(1000));
    image->set_end(static_cast<MeasuredImage::End>(Below(6)));
    image->set_peak_live_bytes(1 + Below(1 << 30));
    image->set_has_totals(Chance());
    if (image->has_totals()) {
      image->set_live_bytes(Below(1 << 20));
      image->set_allocated_bytes(Below(1 << 30));
      image->set_allocation_count(Below(1 << 20));
    }
    if (Chance()) AddSites(image);
  }

  RandomSequence& random_;
  MeasuredRun run_;
};

}  // namespace

MeasuredRun RandomRun(RandomSequence* random) {
  return RunMaker(random).Make();
}

}  // namespace footprint
