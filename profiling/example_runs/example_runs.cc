#include "footprint/profiling/example_runs/example_runs.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/random/random_sequence.h"

namespace footprint {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kBeginNs = 5 * kSecondNs;

void Set(int64_t bytes, int64_t count, Amount* amount, double sigma = 0) {
  amount->set_bytes(bytes);
  amount->set_count(count);
  amount->set_variance(sigma * sigma);
}

class FullRunMaker {
 public:
  explicit FullRunMaker(bool is_later) : is_later_(is_later) {}

  MeasuredRun Make() {
    SetRun();
    AddFrames();
    AddLargestImage();
    AddChild();
    return run_;
  }

 private:
  void SetRun() {
    run_.set_schema_version(1);
    run_.add_program("/usr/bin/python3");
    run_.add_program("train.py");
    run_.set_begin_unix_time_ns(1'795'366'800 * kSecondNs);
    run_.set_wall_time_ns(4 * kSecondNs);
    run_.set_user_time_ns(3 * kSecondNs);
    run_.set_system_time_ns(kSecondNs / 2);
    run_.set_peak_resident_sum_bytes(90 * kMiB);
    run_.set_sampling_interval_bytes(512 << 10);
    ContainerNeeds* const needs = run_.mutable_container_needs();
    needs->set_limit_bytes(110 * kMiB);
    needs->set_resident_bytes(88 * kMiB);
    needs->set_kernel_bytes(2 * kMiB);
    needs->set_margin_bytes(20 * kMiB);
    GraphicsMemory* const graphics = run_.add_graphics();
    graphics->set_process_id(100);
    graphics->set_device_name("A graphics device");
    graphics->set_peak_bytes(600 * kMiB);
    graphics->set_busy_ns(kSecondNs);
    run_.set_graphics_note("one device tells no times");
    MeasuredMachine* const machine = run_.mutable_machine();
    machine->set_kernel("Linux 6.1");
    machine->set_cpu_model("A processor");
    machine->set_memory_bytes(24'576 * kMiB);
    machine->set_processor_count(2);
    machine->set_page_size_bytes(4096);
    machine->set_allocator("glibc 2.36");
  }

  // Frame i is call i + 1 of the calls; `parent` as calls name it.
  void AddFrame(CodeFrame::Kind kind, const char* function, const char* file,
                int line, const char* module, uint32_t parent) {
    CodeFrame* const frame = run_.add_frames();
    frame->set_kind(kind);
    frame->set_function(function);
    frame->set_file(file);
    frame->set_line(line);
    frame->set_module(module);
    Call* const call = run_.add_calls();
    call->set_parent(parent);
    call->set_frame(static_cast<uint32_t>(run_.frames_size() - 1));
  }

  void AddFrames() {
    constexpr char kNumPy[] = "/usr/lib/python3/dist-packages/numpy/_core.so";
    constexpr char kPython[] = "/usr/bin/python3.11";
    AddFrame(CodeFrame::INTERPRETER, "Py_BytesMain", "main.c", 734, kPython, 0);
    AddFrame(CodeFrame::PYTHON, "<module>", "train.py", 20, "train.py", 1);
    AddFrame(CodeFrame::PYTHON, "fit", "train.py", 12, "train.py", 2);
    AddFrame(CodeFrame::NATIVE, "PyArray_NewFromDescr", "ctors.c", 830, kNumPy,
             3);
    AddFrame(CodeFrame::ALLOCATOR, "malloc", "", 0, "/lib/libjemalloc.so", 4);
    AddFrame(CodeFrame::PYTHON, "_find_and_load", "<frozen importlib>", 1176,
             "<frozen importlib>", 2);
    AddFrame(CodeFrame::PYTHON, "<module>", "/usr/lib/python3/numpy.py", 7,
             "/usr/lib/python3/numpy.py", 6);
    AddFrame(CodeFrame::INTERPRETER, "PyType_New", "typeobject.c", 3600,
             kPython, 1);
    AddFrame(CodeFrame::NATIVE, "libz.so+0x1234", "", 0, "/lib/libz.so", 2);
  }

  void AddSite(uint32_t call, uint32_t thread, uint32_t stage,
               int64_t peak_bytes, int64_t end_bytes, int64_t allocated_bytes,
               MeasuredImage* image) {
    constexpr double kSigma = 100'000;
    SiteAmounts* const site = image->add_sites();
    site->set_call(call);
    site->set_thread(thread);
    site->set_stage(stage);
    Set(peak_bytes, 4, site->mutable_at_peak(), kSigma);
    if (end_bytes > 0) Set(end_bytes, 1, site->mutable_at_end(), kSigma);
    Set(allocated_bytes, 50, site->mutable_allocated(), kSigma);
    site->set_temporary_count(call == 5 ? 30 : 0);
    site->set_sample_count(8);
  }

  static StageFigures* AddStage(const char* name, StageFigures::Kind kind,
                                uint32_t parent, int64_t peak_bytes,
                                MeasuredImage* image) {
    StageFigures* const stage = image->add_stages();
    stage->set_name(name);
    stage->set_kind(kind);
    stage->set_parent(parent);
    stage->set_visit_count(2);
    stage->set_begin_time_ns(kBeginNs + kSecondNs);
    stage->set_wall_time_ns(kSecondNs);
    stage->set_peak_live_bytes(peak_bytes);
    stage->set_peak_live_absolute_bytes(peak_bytes + kMiB);
    stage->set_allocated_bytes(3 * peak_bytes);
    stage->set_allocation_count(77);
    stage->set_net_growth_bytes(-peak_bytes / 2);
    return stage;
  }

  void AddTimeline(MeasuredImage* image) {
    const int64_t peak_bytes = image->peak_live_bytes();
    for (int i = 0; i <= 40; ++i) {
      TimelinePoint* const point = image->add_timeline();
      point->set_time_ns(kBeginNs + i * kSecondNs / 10);
      point->set_live_bytes(i == 30 ? peak_bytes : peak_bytes * (i % 30) / 30);
      point->set_stage(i < 10 ? 1 : i < 20 ? 2 : i < 32 ? 3 : 0);
    }
    image->set_peak_time_ns(kBeginNs + 30 * kSecondNs / 10);
  }

  // After 1 s the import holds 2 MiB; after 2 s fit has 5 MiB besides.
  static void AddMoments(MeasuredImage* image) {
    for (int second = 0; second <= 2; ++second) {
      LiveMoment* const moment = image->add_moments();
      moment->set_time_ns(kBeginNs + second * kSecondNs);
      if (second == 0) continue;
      moment->add_calls(7);
      moment->add_bytes(2 * kMiB);
      if (second == 1) continue;
      moment->add_calls(4);
      moment->add_bytes(5 * kMiB);
    }
  }

  void AddLargestImage() {
    MeasuredImage* const image = run_.add_images();
    // Sets the figures of the whole process.
    image->set_process_id(100);
    image->set_parent_process_id(1);
    image->set_executable("/usr/bin/python3.11");
    image->add_command_line("python3");
    image->add_command_line("train.py");
    image->set_begin_time_ns(kBeginNs);
    AddMoments(image);
    image->set_end_time_ns(kBeginNs + 4 * kSecondNs);
    image->set_end(MeasuredImage::EXITED);
    image->set_peak_live_bytes((is_later_ ? 14 : 12) * kMiB);
    image->set_peak_mapped_bytes(30 * kMiB);
    image->set_has_totals(true);
    image->set_live_bytes(kMiB);
    image->set_allocated_bytes(40 * kMiB);
    image->set_allocation_count(12'345);
    image->set_peak_resident_bytes(60 * kMiB);
    image->set_allocator("glibc 2.36");
    image->set_thread_count(2);
    image->set_interpreter("CPython 3.11.2");
    image->set_python_objects(MeasuredImage::COUNTED);
    image->add_notes("Blocks of dlopen'ed plug-ins were not counted.");
    image->set_has_sites(true);
    // Adds threads, stages and sites.
    for (uint32_t i = 0; i < 3; ++i) {
      MeasuredThread* const thread = image->add_threads();
      thread->set_number(i);
      thread->set_name(i == 1 ? "main" : i == 2 ? "worker" : "");
      thread->set_at_peak_bytes(i == 0 ? 0 : (7 - i) * kMiB);
      thread->set_allocated_bytes(i == 0 ? 0 : 20 * kMiB);
    }
    image->add_stages()->set_kind(StageFigures::NONE);
    AddStage("numpy", StageFigures::IMPORT, 0, 2 * kMiB, image);
    AddStage("data.csv", StageFigures::FILE, 0, 4 * kMiB, image);
    AddStage("fit", StageFigures::NAMED, 0, (is_later_ ? 9 : 7) * kMiB, image)
        ->set_was_left_open(true);
    AddStage("epoch", StageFigures::NAMED, 3, kMiB, image);
    AddSite(5, 1, 3, (is_later_ ? 9 : 7) * kMiB, 0, 30 * kMiB, image);
    AddSite(7, 1, 1, 2 * kMiB, kMiB / 2, 4 * kMiB, image);
    AddSite(8, 2, 0, kMiB + (is_later_ ? 1000 : 0), kMiB / 2, 3 * kMiB, image);
    AddSite(9, 2, 4, kMiB, 0, 2 * kMiB, image);
    AddSite(0, 0, 0, kMiB, 0, kMiB, image);
    AddTimeline(image);
    AddOtherMeasures(image);
  }

  void AddOtherMeasures(MeasuredImage* image) {
    CopyAmounts* const copy = image->add_copies();
    copy->set_call(4);
    copy->set_stage(3);
    Set(25 * kMiB, 9, copy->mutable_copied());
    ProcessorTime* const time = image->add_processor_time();
    time->set_call(4);
    time->set_thread(1);
    time->set_stage(3);
    time->set_sample_count(300);
    time->set_native_ns(2 * kSecondNs);
    time->set_interpreter_ns(kSecondNs / 2);
    time->set_system_ns(kSecondNs / 4);
    SuspectedLeak* const leak = image->add_suspected_leaks();
    leak->set_call(9);
    leak->set_probability(0.975);
    leak->set_live_bytes(kMiB);
    leak->set_growth_bytes_per_s(2048);
    ResidentParts* const parts = image->mutable_resident_at_peak();
    parts->set_time_ns(kBeginNs + 3 * kSecondNs);
    parts->set_resident_bytes(60 * kMiB);
    parts->set_live_bytes(12 * kMiB);
    parts->set_kept_bytes(8 * kMiB);
    parts->set_mapped_bytes(10 * kMiB);
    parts->set_stack_bytes(kMiB);
    parts->set_image_bytes(20 * kMiB);
    parts->set_agent_bytes(2 * kMiB);
    parts->set_file_bytes(5 * kMiB);
    parts->set_other_bytes(kMiB);
    parts->set_unexplained_bytes(kMiB);
    parts->set_minor_fault_count(15'000);
    parts->set_major_fault_count(3);
  }

  void AddChild() {
    MeasuredImage* const image = run_.add_images();
    image->set_process_id(101);
    image->set_parent_process_id(100);
    image->set_is_fork(true);
    image->set_executable("/usr/bin/python3.11");
    image->add_command_line("python3");
    image->add_command_line("worker.py");
    image->set_begin_time_ns(kBeginNs + kSecondNs);
    image->set_end(MeasuredImage::KILLED);
    image->set_peak_live_bytes(8 * kMiB);
    image->set_inherited_live_bytes(5 * kMiB);
    image->set_peak_time_ns(kBeginNs + 2 * kSecondNs);
    image->set_has_sites(true);
    image->add_threads();
    image->add_stages()->set_kind(StageFigures::NONE);
    AddSite(5, 0, 0, 3 * kMiB, 0, 6 * kMiB, image);
    for (int i = 0; i < 3; ++i) {
      TimelinePoint* const point = image->add_timeline();
      point->set_time_ns(kBeginNs + (1 + i) * kSecondNs);
      point->set_live_bytes((i == 1 ? 8 : 5) * kMiB);
    }
  }

  const bool is_later_;
  MeasuredRun run_;
};

constexpr int kFunctionCount = 2000;
constexpr int kLinesOfFunction = 10;

void AddLargeFrames(MeasuredRun* run) {
  for (int i = 0; i < kLinesOfFunction * kFunctionCount; ++i) {
    CodeFrame* const frame = run->add_frames();
    const int function = i % kFunctionCount;
    frame->set_function(absl::StrCat(
        "tensor_library::Operation", function,
        "<std::vector<float, std::allocator<float> >, 16ul>::Evaluate(",
        "tensor_library::Context const&)"));
    frame->set_file(
        absl::StrCat("/source/library/operation_", function, ".cc"));
    frame->set_line(i / kFunctionCount * 10 + 5);
    frame->set_module(function < 1000 ? "/bin/large" : "/usr/lib/liblarge.so");
  }
}

// A tree that branches everywhere.
void AddLargeCalls(int count, RandomSequence* random, MeasuredRun* run) {
  constexpr int kMostDepth = 30;
  std::vector<int> depths;
  for (int i = 0; i < count; ++i) {
    Call* const call = run->add_calls();
    int parent =
        i == 0 ? -1 : static_cast<int>(random->Below(static_cast<uint64_t>(i)));
    if (parent >= 0 && depths[static_cast<size_t>(parent)] >= kMostDepth) {
      parent = -1;
    }
    depths.push_back(parent < 0 ? 0 : depths[static_cast<size_t>(parent)] + 1);
    call->set_parent(static_cast<uint32_t>(parent + 1));
    call->set_frame(static_cast<uint32_t>(
        random->Below(kLinesOfFunction * kFunctionCount)));
  }
}

// A site a call; few are large.
void AddLargeSites(int count, RandomSequence* random, MeasuredImage* image) {
  for (int i = 0; i < count; ++i) {
    SiteAmounts* const site = image->add_sites();
    site->set_call(static_cast<uint32_t>(i + 1));
    const auto bytes =
        static_cast<int64_t>(1'000'000 / (1 + random->Below(100'000)));
    Set(bytes, 3, site->mutable_at_peak());
    Set(bytes / 3, 1, site->mutable_at_end());
    Set(7 * bytes + 16, 30, site->mutable_allocated());
    site->set_temporary_count(2);
    site->set_sample_count(30);
    image->set_peak_live_bytes(image->peak_live_bytes() + bytes);
    image->set_live_bytes(image->live_bytes() + bytes / 3);
    image->set_allocated_bytes(image->allocated_bytes() + 7 * bytes + 16);
  }
}

void AddLargeTimeline(int site_count, MeasuredImage* image) {
  const int64_t peak_bytes = image->peak_live_bytes();
  for (int i = 0; i < site_count / 100 + 2; ++i) {
    TimelinePoint* const point = image->add_timeline();
    point->set_time_ns(i * int64_t{1000});
    point->set_live_bytes(i == 1 ? peak_bytes : peak_bytes / (2 + i % 7));
  }
  image->set_peak_time_ns(1000);
}

}  // namespace

MeasuredRun FullRun() { return FullRunMaker(/*is_later=*/false).Make(); }

MeasuredRun FullRunLater() { return FullRunMaker(/*is_later=*/true).Make(); }

MeasuredRun RunNamed(const std::string& text) {
  MeasuredRun run = FullRun();
  for (std::string& word : *run.mutable_program()) word = text;
  for (CodeFrame& frame : *run.mutable_frames()) {
    frame.set_function(text);
    if (!frame.file().empty()) frame.set_file(text);
    frame.set_module(text);
  }
  for (MeasuredImage& image : *run.mutable_images()) {
    image.set_executable(text);
    image.set_interpreter(text);
    for (std::string& word : *image.mutable_command_line()) word = text;
    for (std::string& note : *image.mutable_notes()) note = text;
    for (StageFigures& stage : *image.mutable_stages()) stage.set_name(text);
    for (MeasuredThread& thread : *image.mutable_threads()) {
      thread.set_name(text);
    }
  }
  for (GraphicsMemory& graphics : *run.mutable_graphics()) {
    graphics.set_device_name(text);
  }
  run.set_graphics_note(text);
  run.set_unrecorded_process_count(1);
  run.add_unrecorded_programs(text);
  run.mutable_container_needs()->set_unknown(text);
  run.mutable_machine()->set_cpu_model(text);
  run.mutable_machine()->set_kernel(text);
  run.mutable_machine()->set_allocator(text);
  return run;
}

MeasuredRun NestedRun() {
  MeasuredRun run;
  const auto add = [&run](const char* function, CodeFrame::Kind kind) {
    CodeFrame* const frame = run.add_frames();
    frame->set_function(function);
    frame->set_kind(kind);
    Call* const call = run.add_calls();
    call->set_parent(static_cast<uint32_t>(run.calls_size()) - 1);
    call->set_frame(static_cast<uint32_t>(run.frames_size()) - 1);
  };
  add("main", CodeFrame::NATIVE);
  add("Fit", CodeFrame::NATIVE);
  add("interpret", CodeFrame::INTERPRETER);
  add("std::vector", CodeFrame::ALLOCATOR);
  add("operator new", CodeFrame::ALLOCATOR);
  return run;
}

MeasuredRun LargeRun(int site_count, uint64_t seed) {
  RandomSequence random(seed);
  MeasuredRun run;
  run.set_schema_version(1);
  run.add_program("large");
  run.set_wall_time_ns(kSecondNs);
  run.set_sampling_interval_bytes(0);
  AddLargeFrames(&run);
  AddLargeCalls(site_count, &random, &run);
  MeasuredImage* const image = run.add_images();
  image->set_process_id(7);
  image->set_executable("/bin/large");
  image->add_command_line("large");
  image->set_end(MeasuredImage::EXITED);
  image->set_has_totals(true);
  image->set_has_sites(true);
  image->add_threads();
  AddLargeSites(site_count, &random, image);
  AddLargeTimeline(site_count, image);
  return run;
}

}  // namespace footprint
