#include "footprint/trainer_manager/adapters/add_adapters.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/near_names.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/networks/parameter_group.h"

namespace footprint {
namespace {

using ResolvedLayer = ResolvedNetwork::ResolvedLayer;

constexpr absl::string_view kTargetType = "fully connected";
// The prefix that PEFT writes before a module's name.
constexpr absl::string_view kFilePrefix = "base_model.model.";

template <typename... Words>
absl::Status Refuse(const Words&... words) {
  return absl::InvalidArgumentError(absl::StrCat(words...));
}

absl::Status CheckOptions(const Network& network, const LoraOptions& options) {
  if (!network.groups().empty()) {
    return Refuse(
        "the network has groups, which AddAdapters makes anew: add adapters "
        "first, then groups to AdaptedNetwork::network");
  }
  for (const Network::Node& node : network.nodes()) {
    if (node.name.find('*') == std::string::npos) continue;
    return Refuse("the layer \"", node.name,
                  "\" has a * in its name, so that groups of its weights would "
                  "match others: give it another name");
  }
  if (options.targets.empty()) {
    return Refuse(
        "LoraOptions::targets is empty: name the layers, such as \"*.qkv\"");
  }
  if (options.rank < 1) {
    return Refuse("LoraOptions::rank is ", options.rank,
                  "; at least 1 is needed");
  }
  if (!std::isfinite(options.alpha) || options.alpha <= 0) {
    return Refuse("LoraOptions::alpha is ", options.alpha,
                  "; a number above 0 is needed, since 0 would leave the "
                  "adapters without effect");
  }
  return absl::OkStatus();
}

float ComputeScale(const LoraOptions& options) {
  const double rank = static_cast<double>(options.rank);
  return static_cast<float>(options.alpha /
                            (options.rank_stabilized ? std::sqrt(rank) : rank));
}

// Returns the module's name in PEFT's files for a layer that matches.
absl::StatusOr<std::string> NameModule(const LoraTarget& target,
                                       const std::string& layer) {
  if (target.module.empty()) return layer;
  const size_t in_module = target.module.find('*');
  if (in_module == std::string::npos) return target.module;
  const size_t star = target.layers.find('*');
  if (star == std::string::npos ||
      target.layers.find('*', star + 1) != std::string::npos ||
      target.module.find('*', in_module + 1) != std::string::npos) {
    return Refuse("the module \"", target.module, "\" of the target \"",
                  target.layers,
                  "\" has a *, so each of the two must have exactly one");
  }
  const size_t fixed = target.layers.size() - 1;
  const std::string matched = layer.substr(star, layer.size() - fixed);
  return absl::StrCat(target.module.substr(0, in_module), matched,
                      target.module.substr(in_module + 1));
}

std::string NearLayersText(const ResolvedNetwork& network,
                           const std::string& pattern) {
  std::vector<absl::string_view> names;
  for (const ResolvedLayer& layer : network.layers) {
    if (layer.layer->type() == kTargetType) names.push_back(layer.name);
  }
  return NearNamesText(pattern, names);
}

// Builds the result from a network and its resolved form.
class AdapterBuilder {
 public:
  AdapterBuilder(const Network& network, const ResolvedNetwork& resolved,
                 const LoraOptions& options)
      : network_(network),
        resolved_(resolved),
        scale_(ComputeScale(options)),
        adapters_of_(resolved.layers.size()),
        is_trained_(resolved.layers.size(), false) {
    result_.options = options;
  }

  absl::StatusOr<AdaptedNetwork> Build();

 private:
  absl::Status AddTarget(const LoraTarget& target);
  absl::Status AddAdapter(const LoraTarget& target, size_t l);
  absl::Status CheckOwnWeights(size_t l) const;
  absl::Status AddTrained(const std::string& pattern);
  void BuildNetwork();
  void FreezeOthers();
  void NameFileTensors();

  const Network& network_;
  const ResolvedNetwork& resolved_;
  const float scale_;
  std::vector<std::vector<Adapter>> adapters_of_;  // by layer
  std::vector<bool> is_trained_;                   // by layer, as a whole
  std::set<std::string> modules_;
  AdaptedNetwork result_;
};

absl::Status AdapterBuilder::CheckOwnWeights(size_t l) const {
  for (size_t other = 0; other < resolved_.layers.size(); ++other) {
    if ((resolved_.layers[other].weights_of == l) == (other == l)) continue;
    return Refuse("layer \"", resolved_.layers[l].name,
                  "\" shares its weights with another, so that it cannot have "
                  "adapters of its own");
  }
  return absl::OkStatus();
}

absl::Status AdapterBuilder::AddAdapter(const LoraTarget& target, size_t l) {
  Adapter adapter;
  adapter.layer = resolved_.layers[l].name;
  const int64_t units = resolved_.layers[l].signature.output.shape.extent(-1);
  if (target.part < 0 || target.part >= target.parts || target.parts > units) {
    return Refuse("layer \"", adapter.layer, "\": part ", target.part, " of ",
                  target.parts, " of ", units,
                  " units; parts count from 0, and must divide the units");
  }
  const absl::StatusOr<std::string> module = NameModule(target, adapter.layer);
  if (!module.ok()) return module.status();
  adapter.module = *module;
  adapter.matrices.rank = result_.options.rank;
  adapter.matrices.scale = scale_;
  adapter.matrices.part = target.part;
  adapter.matrices.parts = target.parts;
  for (const Adapter& other : adapters_of_[l]) {
    // Part p of n covers the shares from p / n to (p + 1) / n of the units.
    const LoraMatrices& m = other.matrices;
    if (m.part * target.parts < (target.part + 1) * m.parts &&
        target.part * m.parts < (m.part + 1) * target.parts) {
      return Refuse("two targets match the same units of layer \"",
                    adapter.layer, "\"; \"", target.layers, "\" is the second");
    }
  }
  if (!modules_.insert(adapter.module).second) {
    return Refuse("two adapters have the module \"", adapter.module,
                  "\", one of them in layer \"", adapter.layer,
                  "\": set LoraTarget::module, with a * for what differs");
  }
  adapters_of_[l].push_back(std::move(adapter));
  return CheckOwnWeights(l);
}

absl::Status AdapterBuilder::AddTarget(const LoraTarget& target) {
  const ResolvedLayer* other = nullptr;  // of another type
  bool found = false;
  for (size_t l = 0; l < resolved_.layers.size(); ++l) {
    const ResolvedLayer& layer = resolved_.layers[l];
    if (!MatchesPattern(target.layers, layer.name)) continue;
    if (layer.layer->type() != kTargetType) {
      other = &layer;
      continue;
    }
    found = true;
    const absl::Status status = AddAdapter(target, l);
    if (!status.ok()) return status;
  }
  if (found) return absl::OkStatus();
  if (other != nullptr) {
    return Refuse("the target \"", target.layers,
                  "\" matches no fully connected layer; \"", other->name,
                  "\" is of type ", other->layer->type());
  }
  return Refuse("the target \"", target.layers, "\" matches no layer",
                NearLayersText(resolved_, target.layers));
}

absl::Status AdapterBuilder::AddTrained(const std::string& pattern) {
  bool found = false;
  for (size_t l = 0; l < resolved_.layers.size(); ++l) {
    const ResolvedLayer& layer = resolved_.layers[l];
    if (layer.weights_of != l) continue;
    size_t matched = 0;
    for (const WeightSpec& weight : layer.signature.weights) {
      if (MatchesPattern(pattern, absl::StrCat(layer.name, ".", weight.name))) {
        ++matched;
      }
    }
    if (matched == 0) continue;
    found = true;
    if (!adapters_of_[l].empty()) {
      return Refuse("the pattern \"", pattern,
                    "\" of trained parameters "
                    "matches weights of layer \"",
                    layer.name,
                    "\", which has adapters: its own weights are not trained");
    }
    if (matched < layer.signature.weights.size()) {
      return Refuse("the pattern \"", pattern,
                    "\" matches only some "
                    "parameters of layer \"",
                    layer.name, "\": use \"", layer.name, ".*\"");
    }
    is_trained_[l] = true;
  }
  if (found) return absl::OkStatus();
  return Refuse("the pattern \"", pattern,
                "\" of trained parameters matches none of the network");
}

void AdapterBuilder::BuildNetwork() {
  std::map<absl::string_view, size_t> places;
  for (size_t l = 0; l < resolved_.layers.size(); ++l) {
    places[resolved_.layers[l].name] = l;
  }
  for (const Network::Input& input : network_.inputs()) {
    result_.network.AddInput(input.name, input.spec);
  }
  for (const Network::Node& node : network_.nodes()) {
    LayerPointer layer = node.layer;
    const auto place = places.find(node.name);  // a loss has none
    if (place != places.end() && !adapters_of_[place->second].empty()) {
      std::vector<LoraMatrices> matrices;
      for (const Adapter& adapter : adapters_of_[place->second]) {
        matrices.push_back(adapter.matrices);
      }
      const LayerSignature& signature =
          resolved_.layers[place->second].signature;
      layer = LoraFullyConnected(signature.output.shape.extent(-1),
                                 std::move(matrices),
                                 /*bias=*/signature.weights.size() == 2);
    }
    result_.network.AddLayer(node.name, layer, node.inputs, node.weights_of);
  }
}

// One group a parameter: a pattern of a whole layer may match another's, too.
void AdapterBuilder::FreezeOthers() {
  for (size_t l = 0; l < resolved_.layers.size(); ++l) {
    const ResolvedLayer& layer = resolved_.layers[l];
    if (is_trained_[l] || !adapters_of_[l].empty() || layer.weights_of != l) {
      continue;
    }
    for (const WeightSpec& weight : layer.signature.weights) {
      result_.network.Freeze(absl::StrCat(layer.name, ".", weight.name));
    }
  }
}

void AdapterBuilder::NameFileTensors() {
  const auto add = [this](const std::string& name, const std::string& in_file,
                          bool transposed) {
    FileTensor tensor;
    tensor.name = absl::StrCat(kFilePrefix, in_file);
    tensor.transposed = transposed;
    result_.file_tensors.tensors[name] = std::move(tensor);
  };
  for (const std::vector<Adapter>& adapters : adapters_of_) {
    for (const Adapter& adapter : adapters) {
      add(adapter.NameA(), adapter.module + ".lora_A.weight", false);
      add(adapter.NameB(), adapter.module + ".lora_B.weight", false);
      result_.adapters.push_back(adapter);
    }
  }
  const ParameterMap whole = PyTorchMap(resolved_);
  for (size_t l = 0; l < resolved_.layers.size(); ++l) {
    if (!is_trained_[l]) continue;
    const ResolvedLayer& layer = resolved_.layers[l];
    for (const auto* list :
         {&layer.signature.weights, &layer.signature.statistics}) {
      for (const WeightSpec& weight : *list) {
        const std::string name = absl::StrCat(layer.name, ".", weight.name);
        const FileTensor& tensor = whole.tensors.at(name);
        add(name, tensor.name, tensor.transposed);
      }
    }
  }
  result_.file_tensors.ignored_endings = whole.ignored_endings;
}

absl::StatusOr<AdaptedNetwork> AdapterBuilder::Build() {
  for (const LoraTarget& target : result_.options.targets) {
    const absl::Status status = AddTarget(target);
    if (!status.ok()) return status;
  }
  for (const std::string& pattern : result_.options.trained) {
    const absl::Status status = AddTrained(pattern);
    if (!status.ok()) return status;
  }
  BuildNetwork();
  // Looks at ranks and parts, which only layers know.
  const auto resolved =
      ResolveNetwork(result_.network, NetworkMode::kInference);
  if (!resolved.ok()) return resolved.status();
  FreezeOthers();
  NameFileTensors();
  return std::move(result_);
}

}  // namespace

std::string Adapter::NameA() const {
  return absl::StrCat(layer, ".", LoraMatrixName(matrices, 'A'));
}

std::string Adapter::NameB() const {
  return absl::StrCat(layer, ".", LoraMatrixName(matrices, 'B'));
}

absl::StatusOr<AdaptedNetwork> AddAdapters(const Network& network,
                                           const LoraOptions& options) {
  const absl::Status status = CheckOptions(network, options);
  if (!status.ok()) return status;
  // Losses have no weights, so a network without one can have adapters, too.
  const auto resolved = ResolveNetwork(network, NetworkMode::kInference);
  if (!resolved.ok()) return resolved.status();
  return AdapterBuilder(network, *resolved, options).Build();
}

}  // namespace footprint
