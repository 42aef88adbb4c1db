#include "footprint/gates/explaining/profile_diff.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/memory/saturated_sum.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/environment_difference.h"
#include "footprint/gates/judge/producer_failure.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace {

using Presence = DiffNode::Presence;

// Pairs of old and new elements, in the order in which `before` and then
// `after` name them.
template <typename T>
class Pairs {
 public:
  struct Pair {
    std::string name;
    const T* before = nullptr;
    const T* after = nullptr;

    Presence presence() const {
      return before == nullptr  ? Presence::kAdded
             : after == nullptr ? Presence::kRemoved
                                : Presence::kBoth;
    }
  };

  Pair& Of(const std::string& name) {
    const auto added = index_.emplace(name, pairs_.size());
    if (added.second) {
      pairs_.emplace_back();
      pairs_.back().name = name;
    }
    return pairs_[added.first->second];
  }
  const std::vector<Pair>& all() const { return pairs_; }

 private:
  std::map<std::string, size_t> index_;
  std::vector<Pair> pairs_;
};

// The profiles of one label.
struct Deployment {
  std::vector<const MemoryProfile*> profiles;
};

std::map<std::string, Deployment> ByLabel(
    absl::Span<const MemoryProfile> profiles) {
  std::map<std::string, Deployment> deployments;
  for (const MemoryProfile& profile : profiles) {
    deployments[profile.label()].profiles.push_back(&profile);
  }
  return deployments;
}

// Returns nullopt for a benchmark or phase that does not exist.
template <typename Measured>
absl::optional<int64_t> FindValue(const Measured* measured, MetricKind kind) {
  if (measured == nullptr) return absl::nullopt;
  return ReadMetric(*measured, kind).bytes_or_count;
}

template <typename Measured>
std::vector<MetricChange> FindChanges(const Measured* before,
                                      const Measured* after) {
  std::vector<MetricChange> changes;
  for (int number = 1; number <= MetricKind_MAX; ++number) {
    if (!MetricKind_IsValid(number)) continue;
    MetricChange change;
    change.metric = static_cast<MetricKind>(number);
    change.before = FindValue(before, change.metric);
    change.after = FindValue(after, change.metric);
    if (change.before != change.after) changes.push_back(change);
  }
  return changes;
}

bool HasDifference(const DiffNode& node) {
  return node.presence != Presence::kBoth || !node.changes.empty() ||
         !node.children.empty() || !node.notes.empty();
}

// Returns the growth for sorting. Unknown growth comes after growth and before
// shrinkage.
int64_t SortingGrowth(const DiffNode& node) {
  const MetricChange* const change = MainChange(node);
  if (change == nullptr) return 0;
  return ComputeGrowth(node, *change).value_or(0);
}

void SortByGrowth(std::vector<DiffNode>* nodes) {
  std::stable_sort(nodes->begin(), nodes->end(),
                   [](const DiffNode& a, const DiffNode& b) {
                     if (a.kind != b.kind) return a.kind < b.kind;
                     return SortingGrowth(a) > SortingGrowth(b);
                   });
}

DiffNode DiffPhase(const Pairs<Phase>::Pair& pair) {
  DiffNode node;
  node.kind = DiffNode::Kind::kPhase;
  node.presence = pair.presence();
  node.name = pair.name;
  node.changes = FindChanges(pair.before, pair.after);
  return node;
}

// Phases, each below its parent. A phase that only one side has gets its parent
// from that side.
class PhaseTree {
 public:
  PhaseTree(const BenchmarkMemory* before, const BenchmarkMemory* after) {
    Add(before, /*is_before=*/true);
    Add(after, /*is_before=*/false);
  }

  std::vector<DiffNode> Nodes() { return NodesBelow(kNoPhase); }

 private:
  static constexpr char kNoPhase[] = "";
  // Differs from kNoPhase, also if the name is empty.
  static std::string MakeKey(const std::string& name) { return "/" + name; }

  void Add(const BenchmarkMemory* benchmark, bool is_before) {
    if (benchmark == nullptr) return;
    for (const Phase& phase : benchmark->phases()) {
      auto& pair = pairs_.Of(phase.name());
      (is_before ? pair.before : pair.after) = &phase;
      parent_[phase.name()] =
          phase.parent() < 0
              ? kNoPhase
              : MakeKey(benchmark->phases(phase.parent()).name());
    }
  }

  // The recursion ends, since a phase's parents are on the side that it is
  // taken from.
  std::vector<DiffNode> NodesBelow(const std::string& parent) {
    std::vector<DiffNode> nodes;
    for (const auto& pair : pairs_.all()) {
      if (parent_[pair.name] != parent) continue;
      DiffNode node = DiffPhase(pair);
      node.children = NodesBelow(MakeKey(pair.name));
      if (HasDifference(node)) nodes.push_back(std::move(node));
    }
    SortByGrowth(&nodes);
    return nodes;
  }

  Pairs<Phase> pairs_;
  std::map<std::string, std::string> parent_;
};

// Returns notes on what no figure shows: child processes, and threads that may
// overlap.
std::vector<std::string> FindProcessNotes(const BenchmarkMemory& before,
                                          const BenchmarkMemory& after) {
  std::vector<std::string> notes;
  if (before.forked_process_count() != after.forked_process_count()) {
    notes.push_back(absl::StrCat(
        "child processes: ", before.forked_process_count(), " -> ",
        after.forked_process_count(), "; their memory is in no figure here"));
  }
  const bool was_ordered = before.order_dependent().empty();
  if (was_ordered != after.order_dependent().empty()) {
    notes.push_back(
        absl::StrCat("threads: ", was_ordered ? "none -> some" : "some -> none",
                     ", whose order changes the peaks"));
  }
  return notes;
}

// Returns a site, such as "Read (table.cc:41)", without its line, which an edit
// above it changes.
std::string SiteWithoutLine(const std::string& site) {
  const size_t open = site.rfind(" (");
  const size_t colon = site.rfind(':');
  if (open == std::string::npos || colon == std::string::npos || colon < open ||
      colon + 2 >= site.size() || site.back() != ')') {
    return site;
  }
  const bool is_line =
      std::all_of(site.begin() + static_cast<int64_t>(colon) + 1,
                  site.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
  return is_line ? site.substr(0, open) : site;
}

using Attributions = google::protobuf::RepeatedPtrField<Attribution>;

// The lines of one function, with what each held.
using Lines = std::vector<const Attribution*>;

int64_t AddUp(const Lines& lines) {
  int64_t sum = 0;
  for (const Attribution* line : lines) {
    sum = SaturatedSum(sum, line->live_bytes());
  }
  return sum;
}

int LineNumber(const Attribution& line) {
  int number = 0;
  const std::string& site = line.site();
  if (SiteWithoutLine(site) != site) {
    // False for a number that is too large; then the number is 0.
    (void)absl::SimpleAtoi(
        absl::string_view(site).substr(site.rfind(':') + 1,
                                       site.size() - site.rfind(':') - 2),
        &number);
  }
  return number;
}

Lines SortedByNumber(Lines lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Attribution* a, const Attribution* b) {
                     return LineNumber(*a) < LineNumber(*b);
                   });
  return lines;
}

// Removes each line of `before` together with one of `after` that is the same.
template <typename IsSame>
void RemovePairs(IsSame is_same, Lines* before, Lines* after) {
  Lines left;
  for (const Attribution* line : *before) {
    const auto same = std::find_if(
        after->begin(), after->end(),
        [&](const Attribution* other) { return is_same(*line, *other); });
    if (same == after->end()) {
      left.push_back(line);
    } else {
      after->erase(same);
    }
  }
  *before = std::move(left);
}

bool HoldTheSame(const Attribution& a, const Attribution& b) {
  return a.live_bytes() == b.live_bytes();
}

// Returns the line of the function that explains the difference best. An edit
// moves lines, so their numbers do not tell which is new: lines that hold as
// much as one before are left out, first those whose number is the same, too.
// If as many are left as before, the edit kept their order, and the line is the
// one that changed most in the direction of the whole function. Otherwise it is
// the one that holds most.
const Attribution& FindChangedLine(Lines before, Lines after) {
  const bool grew = AddUp(after) >= AddUp(before);
  const Lines all = after;
  before = SortedByNumber(std::move(before));
  after = SortedByNumber(std::move(after));
  RemovePairs(
      [](const Attribution& a, const Attribution& b) {
        return a.site() == b.site() && HoldTheSame(a, b);
      },
      &before, &after);
  RemovePairs(HoldTheSame, &before, &after);
  if (after.empty()) {
    before.clear();
    after = all;
  }
  const bool has_pairs = before.size() == after.size();
  const Attribution* changed = nullptr;
  int64_t most = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < after.size(); ++i) {
    const int64_t bytes = after[i]->live_bytes();
    const int64_t bytes_before = has_pairs ? before[i]->live_bytes() : 0;
    const int64_t change =
        has_pairs && !grew ? bytes_before - bytes : bytes - bytes_before;
    if (changed == nullptr || change > most) {
      changed = after[i];
      most = change;
    }
  }
  return *changed;
}

DiffNode DiffSite(const Lines& before, const Lines& after, DiffNode::Kind kind,
                  MetricKind metric) {
  DiffNode node;
  node.kind = kind;
  node.presence = before.empty()  ? Presence::kAdded
                  : after.empty() ? Presence::kRemoved
                                  : Presence::kBoth;
  node.name = (after.empty() ? FindChangedLine(after, before)
                             : FindChangedLine(before, after))
                  .site();
  MetricChange change;
  change.metric = metric;
  if (!before.empty()) change.before = AddUp(before);
  if (!after.empty()) change.after = AddUp(after);
  if (change.before != change.after) node.changes.push_back(change);
  return node;
}

// Returns whether a side has bytes of the metric but no site: its profile was
// made without sites, or by a program that did not record these.
bool LacksSites(const BenchmarkMemory& side, MetricKind metric) {
  const Attributions* const sites = FindPeakHolders(side, metric);
  return (sites == nullptr || sites->empty()) &&
         ReadMetric(side, metric).bytes_or_count.value_or(0) > 0;
}

// Adds the sites that differ. The lines of one function are one site, since an
// edit moves them all.
void AddSites(const Attributions& before, const Attributions& after,
              DiffNode::Kind kind, MetricKind metric,
              std::vector<DiffNode>* nodes) {
  std::map<std::string, std::pair<Lines, Lines>> functions;
  for (const Attribution& line : before) {
    functions[SiteWithoutLine(line.site())].first.push_back(&line);
  }
  for (const Attribution& line : after) {
    functions[SiteWithoutLine(line.site())].second.push_back(&line);
  }
  for (const auto& [function, sides] : functions) {
    DiffNode node = DiffSite(sides.first, sides.second, kind, metric);
    if (HasDifference(node)) nodes->push_back(std::move(node));
  }
}

DiffNode DiffBenchmark(const Pairs<BenchmarkMemory>::Pair& pair) {
  DiffNode node;
  node.kind = DiffNode::Kind::kBenchmark;
  node.presence = pair.presence();
  node.name = pair.name;
  node.changes = FindChanges(pair.before, pair.after);
  if (node.presence == Presence::kBoth) {
    node.notes = FindProcessNotes(*pair.before, *pair.after);
  }
  node.children = PhaseTree(pair.before, pair.after).Nodes();
  const BenchmarkMemory& before = pair.before != nullptr
                                      ? *pair.before
                                      : BenchmarkMemory::default_instance();
  const BenchmarkMemory& after =
      pair.after != nullptr ? *pair.after : BenchmarkMemory::default_instance();
  const auto add_sites = [&](const Attributions& sites_before,
                             const Attributions& sites_after,
                             DiffNode::Kind kind, MetricKind metric) {
    // Sites that one side does not know are neither new nor gone.
    if (node.presence == Presence::kBoth &&
        LacksSites(before, metric) != LacksSites(after, metric)) {
      return;
    }
    AddSites(sites_before, sites_after, kind, metric, &node.children);
  };
  add_sites(before.peak_attribution(), after.peak_attribution(),
            DiffNode::Kind::kSite, PEAK_LIVE_USABLE_BYTES);
  add_sites(before.mapped_attribution(), after.mapped_attribution(),
            DiffNode::Kind::kMapping, PEAK_MAPPED_BYTES);
  SortByGrowth(&node.children);
  return node;
}

class DeploymentDiff {
 public:
  DeploymentDiff(const std::string& label, const Deployment* before,
                 const Deployment* after)
      : before_(before), after_(after) {
    node_.name = label;
    node_.presence = before == nullptr  ? Presence::kAdded
                     : after == nullptr ? Presence::kRemoved
                                        : Presence::kBoth;
  }

  absl::StatusOr<DiffNode> Run() {
    Pairs<BenchmarkMemory> pairs;
    for (const bool is_before : {true, false}) {
      const Deployment* const side = is_before ? before_ : after_;
      if (side == nullptr) continue;
      for (const MemoryProfile* profile : side->profiles) {
        for (const BenchmarkMemory& benchmark : profile->benchmarks()) {
          auto& pair = pairs.Of(benchmark.name());
          const BenchmarkMemory*& slot = is_before ? pair.before : pair.after;
          if (slot != nullptr) return Duplicate(benchmark, is_before);
          slot = &benchmark;
        }
      }
    }
    for (const auto& pair : pairs.all()) {
      DiffNode benchmark = DiffBenchmark(pair);
      if (HasDifference(benchmark)) {
        node_.children.push_back(std::move(benchmark));
      }
    }
    SortByGrowth(&node_.children);
    AddHighestPeak();
    AddNotes();
    return std::move(node_);
  }

 private:
  absl::Status Duplicate(const BenchmarkMemory& benchmark, bool is_before) {
    return absl::InvalidArgumentError(absl::StrCat(
        is_before ? "the old" : "the new", " profiles have ", node_.name, " ",
        EscapeForTerminal(benchmark.name()),
        " twice; give a folder that holds one measurement of each"));
  }

  static absl::optional<int64_t> HighestPeak(const Deployment* side) {
    absl::optional<int64_t> highest;
    if (side == nullptr) return highest;
    for (const MemoryProfile* profile : side->profiles) {
      for (const BenchmarkMemory& benchmark : profile->benchmarks()) {
        const absl::optional<int64_t> peak =
            ReadMetric(benchmark, PEAK_LIVE_USABLE_BYTES).bytes_or_count;
        if (peak.has_value()) {
          highest = std::max(*peak, highest.value_or(*peak));
        }
      }
    }
    return highest;
  }

  void AddHighestPeak() {
    MetricChange change;
    change.metric = PEAK_LIVE_USABLE_BYTES;
    change.before = HighestPeak(before_);
    change.after = HighestPeak(after_);
    if (change.before != change.after) node_.changes.push_back(change);
  }

  void AddNotes() {
    for (const Deployment* side : {before_, after_}) {
      if (side == nullptr) continue;
      for (const MemoryProfile* profile : side->profiles) {
        if (!profile->has_failure()) continue;
        node_.notes.push_back(absl::StrCat(
            side == before_ ? "the old profile " : "the new profile ",
            DescribeFailure(profile->failure())));
      }
    }
    if (before_ == nullptr || after_ == nullptr) return;
    const Environment& old = before_->profiles.front()->environment();
    const Environment& now = after_->profiles.front()->environment();
    if (CountDifferences(now, old) == 0) return;
    node_.notes.push_back(absl::StrCat("measured in another environment: ",
                                       DescribeDifference(now, old)));
  }

  const Deployment* const before_;
  const Deployment* const after_;
  DiffNode node_;
};

}  // namespace

absl::StatusOr<ProfileDiff> DiffProfiles(
    absl::Span<const MemoryProfile> before,
    absl::Span<const MemoryProfile> after) {
  const std::map<std::string, Deployment> old = ByLabel(before);
  const std::map<std::string, Deployment> now = ByLabel(after);
  Pairs<Deployment> pairs;
  for (const auto& entry : old) pairs.Of(entry.first).before = &entry.second;
  for (const auto& entry : now) pairs.Of(entry.first).after = &entry.second;
  ProfileDiff diff;
  for (const auto& pair : pairs.all()) {
    absl::StatusOr<DiffNode> node =
        DeploymentDiff(pair.name, pair.before, pair.after).Run();
    if (!node.ok()) return node.status();
    if (HasDifference(*node)) {
      diff.deployments.push_back(*std::move(node));
    } else {
      ++diff.same_count;
    }
  }
  // The highest peak of a deployment may stay while a lower one grows.
  const auto growth = [](const DiffNode& node) {
    int64_t largest = SortingGrowth(node);
    for (const DiffNode& child : node.children) {
      largest = std::max(largest, SortingGrowth(child));
    }
    return largest;
  };
  std::stable_sort(diff.deployments.begin(), diff.deployments.end(),
                   [&growth](const DiffNode& a, const DiffNode& b) {
                     return growth(a) > growth(b);
                   });
  return diff;
}

const MetricChange* MainChange(const DiffNode& node) {
  const MetricChange* main = nullptr;
  for (const MetricChange& change : node.changes) {
    if (change.metric == PEAK_LIVE_USABLE_BYTES) return &change;
    const bool is_bytes = UnitOfMetric(change.metric) == MetricUnit::kBytes;
    if (main == nullptr ||
        (is_bytes && UnitOfMetric(main->metric) != MetricUnit::kBytes)) {
      main = &change;
    }
  }
  return main;
}

absl::optional<int64_t> ComputeGrowth(const DiffNode& node,
                                      const MetricChange& change) {
  const bool was_there = node.presence != Presence::kAdded;
  const bool is_there = node.presence != Presence::kRemoved;
  if ((was_there && !change.before.has_value()) ||
      (is_there && !change.after.has_value())) {
    return absl::nullopt;
  }
  const int64_t before = change.before.value_or(0);
  const int64_t after = change.after.value_or(0);
  int64_t growth = 0;
  if (!__builtin_sub_overflow(after, before, &growth)) return growth;
  return after < before ? std::numeric_limits<int64_t>::min()
                        : std::numeric_limits<int64_t>::max();
}

}  // namespace footprint
