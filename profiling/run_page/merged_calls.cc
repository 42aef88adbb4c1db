#include "footprint/profiling/run_page/merged_calls.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/saturated_sum.h"
#include "footprint/profiling/runs/amounts.h"

namespace footprint {
namespace {

constexpr char kNotRecorded[] = "[before the agent began]";
constexpr char kOutsideOfPython[] = "[outside of Python]";
constexpr char kOthers[] = "others";
constexpr char kSmallerCalls[] = "smaller calls";
constexpr uint32_t kNoName = ~uint32_t{0};
constexpr uint32_t kNameOfOthers = 1;

// Template arguments can make a name arbitrarily long.
constexpr size_t kMostNameBytes = 160;

std::string ShortName(absl::string_view name) {
  if (name.size() <= kMostNameBytes) return std::string(name);
  size_t end = kMostNameBytes - 3;
  // Cuts between characters of UTF-8.
  while (end > 0 && (name[end] & 0xC0) == 0x80) --end;
  return absl::StrCat(name.substr(0, end), "...");
}

absl::string_view FileName(absl::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

absl::string_view FindDetail(const CodeFrame& frame) {
  return FileName(frame.kind() == CodeFrame::PYTHON && !frame.file().empty()
                      ? frame.file()
                      : frame.module());
}

}  // namespace

MergedCalls::MergedCalls(size_t measure_count)
    : values_(measure_count),
      variances_(measure_count),
      wholes_(measure_count) {
  names_.push_back({"", ""});
  names_.push_back({kOthers, kSmallerCalls});
  nodes_.push_back({0, 0, CodeOwner::kUnknown});
  for (std::vector<int64_t>& values : values_) values.push_back(0);
}

uint32_t MergedCalls::NumberName(absl::string_view name,
                                 absl::string_view detail) {
  const auto [named, is_new] = name_indices_.try_emplace(
      NameKey(name, detail), static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(named->first);
  return named->second;
}

uint32_t MergedCalls::Child(uint32_t parent, absl::string_view name,
                            absl::string_view detail, CodeOwner owner) {
  return ChildOfName(parent, NumberName(name, detail), [&] { return owner; });
}

uint32_t MergedCalls::Others(uint32_t parent) {
  return ChildOfName(parent, kNameOfOthers, [] { return CodeOwner::kUnknown; });
}

template <typename FindOwner>
uint32_t MergedCalls::ChildOfName(uint32_t parent, uint32_t name,
                                  FindOwner find_owner) {
  const uint64_t key = (uint64_t{parent} << 32) | name;
  const auto [child, is_new] =
      children_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
  if (is_new) {
    nodes_.push_back({parent, name, find_owner()});
    for (std::vector<int64_t>& values : values_) values.push_back(0);
  }
  return child->second;
}

void MergedCalls::Add(uint32_t node, size_t measure, int64_t value,
                      double variance) {
  if (value <= 0) return;
  values_[measure][node] = SaturatedSum(values_[measure][node], value);
  wholes_[measure] = SaturatedSum(wholes_[measure], value);
  if (!(variance > 0)) return;
  std::vector<double>& variances = variances_[measure];
  if (variances.size() < nodes_.size()) {
    if (variances.empty()) variances.reserve(nodes_.capacity());
    variances.resize(nodes_.size());
  }
  variances[node] += variance;
}

// Returns each node's greatest share of any measure, including what it calls.
std::vector<double> MergedCalls::Scores() const {
  std::vector<double> scores(nodes_.size());
  for (size_t m = 0; m < values_.size(); ++m) {
    if (wholes_[m] == 0) continue;
    std::vector<int64_t> sums = values_[m];
    for (size_t i = nodes_.size() - 1; i > 0; --i) {
      int64_t& sum_of_parent = sums[nodes_[i].parent];
      sum_of_parent = SaturatedSum(sum_of_parent, sums[i]);
      scores[i] = std::max(scores[i], static_cast<double>(sums[i]) /
                                          static_cast<double>(wholes_[m]));
    }
  }
  return scores;
}

// Returns about how many bytes the node adds to a page, including its "others".
size_t MergedCalls::CountCost(uint32_t node,
                              std::vector<bool>* has_name) const {
  constexpr size_t kBytesOfNode = 24;
  constexpr size_t kBytesOfValue = 14;
  constexpr size_t kBytesOfZero = 4;
  size_t cost = kBytesOfNode;
  for (const std::vector<int64_t>& values : values_) {
    cost += values[node] == 0 ? kBytesOfZero : kBytesOfValue;
  }
  const uint32_t name = nodes_[node].name;
  if (!(*has_name)[name]) {
    (*has_name)[name] = true;
    cost += std::min(names_[name].first.size(), kMostNameBytes) +
            std::min(names_[name].second.size(), kMostNameBytes) + 8;
  }
  return cost;
}

std::vector<uint32_t> MergedCalls::Choose(size_t most_bytes) const {
  constexpr double kLeastScore = 1e-4;
  constexpr size_t kMostNodes = 6000;
  const std::vector<double> scores = Scores();
  std::vector<std::pair<double, uint32_t>> scored;
  for (size_t i = 1; i < nodes_.size(); ++i) {
    if (scores[i] >= kLeastScore && nodes_[i].name != kNameOfOthers) {
      scored.push_back({-scores[i], static_cast<uint32_t>(i)});
    }
  }
  // A caller's score is at least that of its calls and its index is lower, so
  // callers come before their calls.
  const size_t most = std::min(kMostNodes, scored.size());
  std::partial_sort(scored.begin(),
                    scored.begin() + static_cast<std::ptrdiff_t>(most),
                    scored.end());
  std::vector<uint32_t> chosen;
  std::vector<bool> has_name(names_.size());
  size_t cost = 0;
  for (size_t i = 0; i < most; ++i) {
    cost += CountCost(scored[i].second, &has_name);
    if (cost > most_bytes) break;
    chosen.push_back(scored[i].second);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

FlameGraph::Node MergedCalls::GraphNode(uint32_t node, int parent) const {
  const NameKey& name = names_[nodes_[node].name];
  FlameGraph::Node graph_node;
  graph_node.parent = parent;
  graph_node.name = ShortName(name.first);
  graph_node.detail = ShortName(name.second);
  graph_node.kind = static_cast<size_t>(nodes_[node].owner);
  graph_node.own_values.resize(values_.size());
  graph_node.sigmas.resize(values_.size());
  AddOwn(node, &graph_node);
  return graph_node;
}

// Adds a node's own figures. `sigmas` holds variances until SetSigmas.
void MergedCalls::AddOwn(uint32_t node, FlameGraph::Node* sum) const {
  for (size_t m = 0; m < values_.size(); ++m) {
    sum->own_values[m] = SaturatedSum(sum->own_values[m], values_[m][node]);
    if (node < variances_[m].size()) sum->sigmas[m] += variances_[m][node];
  }
}

// Turns variances of own figures into sigmas of sums.
void MergedCalls::SetSigmas(std::vector<FlameGraph::Node>* nodes) const {
  for (size_t m = 0; m < values_.size(); ++m) {
    std::vector<int64_t> sums;
    sums.reserve(nodes->size());
    for (const FlameGraph::Node& node : *nodes) {
      sums.push_back(node.own_values[m]);
    }
    for (size_t i = nodes->size(); i-- > 0;) {
      double& sigma = (*nodes)[i].sigmas[m];
      const int parent = (*nodes)[i].parent;
      if (parent >= 0) {
        int64_t& sum_of_parent = sums[static_cast<size_t>(parent)];
        sum_of_parent = SaturatedSum(sum_of_parent, sums[i]);
        (*nodes)[static_cast<size_t>(parent)].sigmas[m] += sigma;
      }
      sigma = SigmaBytes(sums[i], sigma);
    }
  }
}

// A caller's score is at least that of its calls, so it is also kept.
std::vector<FlameGraph::Node> MergedCalls::LargestNodes(
    size_t most_bytes) const {
  std::vector<FlameGraph::Node> kept;
  // For each node, the index in `kept` plus 1 of itself or else of the nearest
  // kept call around it; 0 if there is none.
  std::vector<uint32_t> places(nodes_.size());
  std::vector<bool> is_kept(nodes_.size());
  is_kept[0] = true;
  for (const uint32_t node : Choose(most_bytes)) {
    kept.push_back(
        GraphNode(node, static_cast<int>(places[nodes_[node].parent]) - 1));
    places[node] = static_cast<uint32_t>(kept.size());
    is_kept[node] = true;
  }
  std::map<uint32_t, FlameGraph::Node> others;  // Indexed by place.
  for (uint32_t i = 1; i < nodes_.size(); ++i) {
    if (is_kept[i]) continue;
    places[i] = places[nodes_[i].parent];
    const auto [sum, is_new] = others.try_emplace(places[i]);
    if (is_new) {
      sum->second = GraphNode(i, static_cast<int>(places[i]) - 1);
      sum->second.name = kOthers;
      sum->second.detail = kSmallerCalls;
      sum->second.kind = static_cast<size_t>(CodeOwner::kUnknown);
    } else {
      AddOwn(i, &sum->second);
    }
  }
  for (auto& [place, sum] : others) kept.push_back(std::move(sum));
  SetSigmas(&kept);
  return kept;
}

MergedCalls::Stacks::Stacks(const MeasuredRun& run, const MeasuredImage& image,
                            const std::vector<uint32_t>& nearest, uint32_t root,
                            bool is_python_alone, MergedCalls* merged)
    : run_(run),
      image_(image),
      nearest_(nearest),
      root_(root),
      is_python_alone_(is_python_alone),
      merged_(*merged),
      nodes_(static_cast<size_t>(run.calls_size()) + 1),
      names_(static_cast<size_t>(run.frames_size()), kNoName) {}

uint32_t MergedCalls::Stacks::FindChild(uint32_t parent, uint32_t call) {
  const uint32_t index = run_.calls(static_cast<int>(call) - 1).frame();
  const CodeFrame& frame = run_.frames(static_cast<int>(index));
  if (is_python_alone_ && frame.kind() != CodeFrame::PYTHON) return parent;
  if (names_[index] == kNoName) {
    names_[index] = merged_.NumberName(frame.function(), FindDetail(frame));
  }
  return merged_.ChildOfName(parent, names_[index],
                             [&] { return FindOwner(frame, image_); });
}

uint32_t MergedCalls::Stacks::FindNode(uint32_t call) {
  if (call == 0) {
    return merged_.Child(root_, kNotRecorded, "", CodeOwner::kUnknown);
  }
  const uint32_t kept = nearest_[call];
  const uint32_t node = kept == 0 ? root_ : NodeOfKept(kept);
  if (is_python_alone_ && node == root_) {
    return merged_.Child(root_, kOutsideOfPython, "", CodeOwner::kUnknown);
  }
  return kept == call ? node : merged_.Others(node);
}

// Callers of a kept call are also kept.
uint32_t MergedCalls::Stacks::NodeOfKept(uint32_t call) {
  path_.clear();
  uint32_t each = call;
  while (each != 0 && nodes_[each] == 0) {
    path_.push_back(each);
    each = run_.calls(static_cast<int>(each) - 1).parent();
  }
  uint32_t node = each == 0 ? root_ : nodes_[each];
  for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
    node = FindChild(node, *step);
    nodes_[*step] = node;
  }
  return node;
}

}  // namespace footprint
