#include "footprint/profiling/run_page/run_flame_graph.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/saturated_sum.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/run_page/merged_calls.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

using Measure = FlameGraph::Measure;

constexpr size_t kMostCommandBytes = 80;

// The measures of the graph, and their indices.
struct Places {
  static constexpr size_t kAbsent = ~size_t{0};
  size_t at_peak = kAbsent;
  size_t allocated = kAbsent;
  size_t at_end = kAbsent;
  size_t copied = kAbsent;
  size_t processor = kAbsent;
  size_t first_moment = kAbsent;
  std::vector<int64_t> moment_times_ns;
};

// Returns the last recorded moment of a process up to a time. Returns null
// before the process began and after its end.
const LiveMoment* FindMoment(const MeasuredImage& image, int64_t time_ns) {
  if (image.end_time_ns() != 0 && time_ns > image.end_time_ns()) return nullptr;
  const LiveMoment* found = nullptr;
  for (const LiveMoment& moment : image.moments()) {
    if (moment.time_ns() <= time_ns) found = &moment;
  }
  return found;
}

// Gives processes with the same command line one common outermost call. A run
// of a single process needs no such call.
class Commands {
 public:
  uint32_t MakeRoot(const MeasuredImage& image, bool has_others,
                    MergedCalls* merged) {
    if (!has_others) return 0;
    const std::string name = ShortCommand(image, kMostCommandBytes);
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
      names_.push_back(name);
    }
    return merged->Child(0, *std::find(names_.begin(), names_.end(), name),
                         "a process", CodeOwner::kUnknown);
  }

 private:
  std::deque<std::string> names_;  // The tree points to them.
};

void Add(uint32_t node, size_t measure, const Amount& amount,
         MergedCalls* merged) {
  if (measure == Places::kAbsent) return;
  merged->Add(node, measure, amount.bytes(), amount.variance());
}

// Chooses calls whose share of some measure, including what they call, is large
// enough to be visible after the merge. A forest of millions of calls has
// thousands of these.
class KeptCalls {
 public:
  explicit KeptCalls(const MeasuredRun& run)
      : run_(run), is_kept_(static_cast<size_t>(run.calls_size()) + 1) {
    const auto each_site = [&run](auto add) {
      for (const MeasuredImage& image : run.images()) {
        for (const SiteAmounts& site : image.sites()) add(site);
      }
    };
    Keep([&](Sums* sums) {
      each_site([sums](const SiteAmounts& site) {
        AddTo(site.call(), site.at_peak().bytes(), sums);
      });
    });
    Keep([&](Sums* sums) {
      each_site([sums](const SiteAmounts& site) {
        AddTo(site.call(), site.allocated().bytes(), sums);
      });
    });
    Keep([&](Sums* sums) {
      each_site([sums](const SiteAmounts& site) {
        AddTo(site.call(), site.at_end().bytes(), sums);
      });
    });
    Keep([&](Sums* sums) {
      for (const MeasuredImage& image : run.images()) {
        for (const CopyAmounts& copy : image.copies()) {
          AddTo(copy.call(), copy.copied().bytes(), sums);
        }
      }
    });
    Keep([&](Sums* sums) {
      for (const MeasuredImage& image : run.images()) {
        for (const ProcessorTime& time : image.processor_time()) {
          AddTo(time.call(), AddUpNs(time), sums);
        }
      }
    });
  }

  // Keeps also the calls that are visible at one moment.
  void KeepMoment(int64_t time_ns) {
    Keep([&](Sums* sums) {
      for (const MeasuredImage& image : run_.images()) {
        const LiveMoment* const moment = FindMoment(image, time_ns);
        if (moment == nullptr) continue;
        for (int i = 0; i < moment->calls_size(); ++i) {
          AddTo(moment->calls(i), moment->bytes(i), sums);
        }
      }
    });
  }

  static int64_t AddUpNs(const ProcessorTime& time) {
    return SaturatedSum(SaturatedSum(time.native_ns(), time.interpreter_ns()),
                        time.system_ns());
  }

  // Returns for each call, numbered as in sites, the call itself if it is kept,
  // otherwise its nearest kept caller, or 0 if there is none.
  std::vector<uint32_t> Nearest() const {
    std::vector<uint32_t> nearest(is_kept_.size());
    for (uint32_t call = 1; call < nearest.size(); ++call) {
      nearest[call] = is_kept_[call] ? call : nearest[FindParent(call)];
    }
    return nearest;
  }

 private:
  using Sums = std::vector<int64_t>;

  static void AddTo(size_t call, int64_t figure, Sums* sums) {
    (*sums)[call] = SaturatedSum((*sums)[call], figure);
  }

  uint32_t FindParent(size_t call) const {
    return run_.calls(static_cast<int>(call) - 1).parent();
  }

  // Keeps the calls that are large enough in one measure. `add_own` adds the
  // measure's figure of each call, without that of the calls inside it.
  template <typename AddOwn>
  void Keep(AddOwn add_own) {
    constexpr int64_t kLeastShare = 50'000;  // The inverse of the least share.
    Sums sums(is_kept_.size());
    add_own(&sums);
    for (size_t call = sums.size() - 1; call > 0; --call) {
      AddTo(FindParent(call), sums[call], &sums);
    }
    for (size_t call = 1; call < sums.size(); ++call) {
      if (sums[call] > 0 && sums[call] >= sums[0] / kLeastShare) {
        is_kept_[call] = true;
      }
    }
  }

  const MeasuredRun& run_;
  std::vector<bool> is_kept_;
};

bool HasPythonCalls(const MeasuredRun& run, const MeasuredImage& image) {
  // Indexed by call, numbered as in sites; callers precede what they call.
  std::vector<bool> is_below_python(static_cast<size_t>(run.calls_size()) + 1);
  for (size_t call = 1; call < is_below_python.size(); ++call) {
    const Call& each = run.calls(static_cast<int>(call) - 1);
    const CodeFrame& frame = run.frames(static_cast<int>(each.frame()));
    is_below_python[call] =
        frame.kind() == CodeFrame::PYTHON || is_below_python[each.parent()];
  }
  return std::any_of(
      image.sites().begin(), image.sites().end(),
      [&](const SiteAmounts& site) { return is_below_python[site.call()]; });
}

void AddImage(const MeasuredRun& run, const MeasuredImage& image,
              const std::vector<uint32_t>& nearest, uint32_t root,
              const Places& places, FlameFrames frames, MergedCalls* merged) {
  // Other programs that the script started have only native frames.
  const bool is_python_alone =
      frames == FlameFrames::kPython && HasPythonCalls(run, image);
  MergedCalls::Stacks stacks(run, image, nearest, root, is_python_alone,
                             merged);
  for (const SiteAmounts& site : image.sites()) {
    const uint32_t node = stacks.FindNode(site.call());
    Add(node, places.at_peak, site.at_peak(), merged);
    Add(node, places.allocated, site.allocated(), merged);
    Add(node, places.at_end, site.at_end(), merged);
  }
  for (size_t i = 0; i < places.moment_times_ns.size(); ++i) {
    const LiveMoment* const moment =
        FindMoment(image, places.moment_times_ns[i]);
    if (moment == nullptr) continue;
    for (int each = 0; each < moment->calls_size(); ++each) {
      merged->Add(stacks.FindNode(moment->calls(each)), places.first_moment + i,
                  moment->bytes(each), /*variance=*/0);
    }
  }
  if (places.copied != Places::kAbsent) {
    for (const CopyAmounts& copy : image.copies()) {
      Add(stacks.FindNode(copy.call()), places.copied, copy.copied(), merged);
    }
  }
  if (places.processor != Places::kAbsent) {
    for (const ProcessorTime& time : image.processor_time()) {
      merged->Add(stacks.FindNode(time.call()), places.processor,
                  KeptCalls::AddUpNs(time), /*variance=*/0);
    }
  }
}

void AddRun(const MeasuredRun& run, const Places& places, FlameFrames frames,
            bool has_commands, Commands* commands, MergedCalls* merged) {
  KeptCalls kept(run);
  for (const int64_t time_ns : places.moment_times_ns) kept.KeepMoment(time_ns);
  const std::vector<uint32_t> nearest = kept.Nearest();
  for (const MeasuredImage& image : run.images()) {
    AddImage(run, image, nearest,
             commands->MakeRoot(image, has_commands, merged), places, frames,
             merged);
  }
}

std::vector<std::string> KindNames() {
  return {"the program's own code",
          "libraries",
          "the interpreter",
          "allocation",
          "",
          "others, not known"};
}

bool HasCommands(const MeasuredRun& run) { return run.images_size() > 1; }

// Adds the moments of the largest process, which the report is about, as
// measures of all processes.
void AddMoments(const MeasuredRun& run, Places* places, FlameGraph* graph) {
  const MeasuredImage* const largest = LargestImage(run);
  if (largest == nullptr) return;
  places->first_moment = graph->measures.size();
  for (const LiveMoment& moment : largest->moments()) {
    const int64_t time_ns =
        std::max<int64_t>(0, moment.time_ns() - BeginTimeNs(run));
    places->moment_times_ns.push_back(moment.time_ns());
    graph->measures.push_back({absl::StrCat("live after ", Seconds(time_ns)),
                               Measure::Unit::kBytes, time_ns});
  }
}

}  // namespace

bool HasPythonFrames(const MeasuredRun& run) {
  for (const CodeFrame& frame : run.frames()) {
    if (frame.kind() == CodeFrame::PYTHON) return true;
  }
  return false;
}

FlameGraph RunFlameGraph(const MeasuredRun& run, size_t most_bytes,
                         FlameFrames frames) {
  bool has_ends = false;
  bool has_copies = false;
  bool has_times = false;
  for (const MeasuredImage& image : run.images()) {
    has_ends = has_ends || (image.has_sites() && image.has_totals());
    has_copies = has_copies || image.copies_size() > 0;
    has_times = has_times || image.processor_time_size() > 0;
  }
  FlameGraph graph;
  graph.title = "Calls";
  graph.kinds = KindNames();
  Places places;
  const auto add_measure = [&graph](const char* name, Measure::Unit unit) {
    graph.measures.push_back({name, unit});
    return graph.measures.size() - 1;
  };
  places.at_peak = add_measure("at the peak", Measure::Unit::kBytes);
  places.allocated = add_measure("allocated in all", Measure::Unit::kBytes);
  if (has_ends) {
    places.at_end = add_measure("left at exit", Measure::Unit::kBytes);
  }
  if (has_copies) {
    places.copied = add_measure("copied", Measure::Unit::kBytes);
  }
  if (has_times) {
    places.processor =
        add_measure("processor time", Measure::Unit::kNanoseconds);
  }
  AddMoments(run, &places, &graph);
  MergedCalls merged(graph.measures.size());
  Commands commands;
  AddRun(run, places, frames, HasCommands(run), &commands, &merged);
  graph.nodes = merged.LargestNodes(most_bytes);
  return graph;
}

FlameGraph ComparisonFlameGraph(const MeasuredRun& before,
                                const MeasuredRun& after, size_t most_bytes) {
  FlameGraph graph;
  graph.title = "Calls, before and after";
  graph.is_comparison = true;
  graph.measures = {{"at the peak, before"},
                    {"at the peak, after"},
                    {"allocated in all, before"},
                    {"allocated in all, after"}};
  MergedCalls merged(graph.measures.size());
  Commands commands;
  const bool has_commands = HasCommands(before) || HasCommands(after);
  Places places;
  places.at_peak = 0;
  places.allocated = 2;
  AddRun(before, places, FlameFrames::kAll, has_commands, &commands, &merged);
  places.at_peak = 1;
  places.allocated = 3;
  AddRun(after, places, FlameFrames::kAll, has_commands, &commands, &merged);
  graph.nodes = merged.LargestNodes(most_bytes);
  return graph;
}

}  // namespace footprint
