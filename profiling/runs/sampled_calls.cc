#include "footprint/profiling/runs/sampled_calls.h"

#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "footprint/profiling/records/call_tree.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/native_calls.h"

namespace footprint {
namespace {

// Returns `stage`, or 0 (outside all stages) if the image does not list it.
uint32_t KnownStage(uint32_t stage, const MeasuredImage& image) {
  return stage < static_cast<uint32_t>(image.stages_size()) ? stage : 0;
}

bool IsInterpreters(const CallTree& tree, int node) {
  if (node == CallTree::kNone) return false;
  const CallTree::Node& innermost = tree.nodes[static_cast<size_t>(node)];
  if (innermost.python_code != CallTree::kNone) return true;
  const int module = innermost.module;
  return module != CallTree::kNone &&
         IsInterpreterPath(tree.modules[static_cast<size_t>(module)].path);
}

void AddTo(const StackTallies::Tally& tally, bool is_interpreters,
           ProcessorTime* sum) {
  sum->set_sample_count(SaturatedSum(sum->sample_count(), tally.sample_count));
  if (is_interpreters) {
    sum->set_interpreter_ns(
        SaturatedSum(sum->interpreter_ns(), tally.amounts[0]));
  } else {
    sum->set_native_ns(SaturatedSum(sum->native_ns(), tally.amounts[0]));
  }
  sum->set_system_ns(SaturatedSum(sum->system_ns(), tally.amounts[1]));
}

}  // namespace

bool IsInterpreterPath(absl::string_view path) {
  const absl::string_view name = path.substr(path.rfind('/') + 1);
  return absl::StartsWith(name, "python2") ||
         absl::StartsWith(name, "python3") || name == "python" ||
         absl::StartsWith(name, "libpython");
}

void SetProcessorTime(
    const StackTallies& tallies,
    const std::function<uint32_t(uint32_t number)>& thread_index,
    const PythonCodes* python, Symbolizer* symbolizer, CallForest* forest,
    MeasuredImage* image) {
  NativeCalls calls(tallies.tree.modules, tallies.tree.nodes, symbolizer,
                    forest, python);
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, ProcessorTime> times;
  for (const StackTallies::Tally& tally : tallies.tallies) {
    const uint32_t call = calls.FindCall(tally.node);
    const uint32_t thread = thread_index(tally.thread);
    const uint32_t stage = KnownStage(tally.stage, *image);
    ProcessorTime& sum = times[{call, thread, stage}];
    sum.set_call(call);
    sum.set_thread(thread);
    sum.set_stage(stage);
    AddTo(tally, IsInterpreters(tallies.tree, tally.node), &sum);
  }
  for (auto& [key, time] : times) {
    *image->add_processor_time() = std::move(time);
  }
}

void SetCopies(const StackTallies& tallies, const PythonCodes* python,
               Symbolizer* symbolizer, CallForest* forest,
               MeasuredImage* image) {
  NativeCalls calls(tallies.tree.modules, tallies.tree.nodes, symbolizer,
                    forest, python);
  std::map<std::pair<uint32_t, uint32_t>, CopyAmounts> copies;
  for (const StackTallies::Tally& tally : tallies.tallies) {
    const uint32_t call = calls.FindCall(tally.node);
    const uint32_t stage = KnownStage(tally.stage, *image);
    CopyAmounts& sum = copies[{call, stage}];
    sum.set_call(call);
    sum.set_stage(stage);
    Amount amount;
    amount.set_bytes(tally.amounts[0]);
    amount.set_count(tally.amounts[1]);
    const bool is_variance =
        std::isfinite(tally.variance) && tally.variance > 0;
    amount.set_variance(is_variance ? tally.variance : 0);
    AddTo(amount, sum.mutable_copied());
  }
  for (auto& [key, copy] : copies) *image->add_copies() = std::move(copy);
}

}  // namespace footprint
