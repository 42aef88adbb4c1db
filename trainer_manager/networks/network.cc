#include "footprint/trainer_manager/networks/network.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/utf8.h"

namespace footprint {
namespace {

using ValueByName = absl::flat_hash_map<std::string, size_t>;

absl::Status InLayer(const std::string& name, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("layer \"", name, "\": ", status.message()));
}

// Fails unless the name is UTF-8, as the format of weight files requires.
absl::Status CheckSavable(absl::string_view what, absl::string_view name) {
  if (IsUtf8(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the name \"", absl::CHexEscape(name), "\" of an ", what,
                   " is not UTF-8, so its weights could not be saved"));
}

// Fails unless a file can hold the layer's weights and statistics under their
// names. `taken` holds the names of earlier layers and receives those of this
// one.
absl::Status CheckParameterNames(const ResolvedNetwork::ResolvedLayer& layer,
                                 absl::flat_hash_set<std::string>* taken) {
  for (const auto* list :
       {&layer.signature.weights, &layer.signature.statistics}) {
    for (const WeightSpec& weight : *list) {
      const absl::Status status = CheckSavable("own weight", weight.name);
      if (!status.ok()) return status;
      const std::string name = absl::StrCat(layer.name, ".", weight.name);
      if (taken->insert(name).second) continue;
      return absl::AlreadyExistsError(
          absl::StrCat("two weights or statistics of the network are named \"",
                       name, "\": name one otherwise"));
    }
  }
  return absl::OkStatus();
}

// Numbers the inputs first, then the layers, both in the order in which they
// were added.
absl::StatusOr<ValueByName> NumberValues(const Network& network) {
  ValueByName values;
  const auto add = [&values](const std::string& name) -> absl::Status {
    if (name.empty()) {
      return absl::InvalidArgumentError("an input or layer has no name");
    }
    const absl::Status status = CheckSavable("input or layer", name);
    if (!status.ok()) return status;
    if (values.emplace(name, values.size()).second) return absl::OkStatus();
    return absl::AlreadyExistsError(
        absl::StrCat("two inputs or layers are named \"", name, "\""));
  };
  for (const Network::Input& input : network.inputs()) {
    const absl::Status status = add(input.name);
    if (!status.ok()) return status;
  }
  for (const Network::Node& node : network.nodes()) {
    const absl::Status status = add(node.name);
    if (!status.ok()) return status;
    if (node.layer == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("layer \"", node.name, "\" is null"));
    }
  }
  return values;
}

// Returns the inputs of each node, as the numbers that NumberValues gave them.
absl::StatusOr<std::vector<std::vector<size_t>>> FindEdges(
    const Network& network, const ValueByName& values) {
  std::vector<std::vector<size_t>> edges;
  for (const Network::Node& node : network.nodes()) {
    std::vector<size_t>& inputs = edges.emplace_back();
    for (const std::string& input : node.inputs) {
      const auto found = values.find(input);
      if (found == values.end()) {
        return absl::NotFoundError(
            absl::StrCat("layer \"", node.name, "\": its input \"", input,
                         "\" is neither an input nor a layer of the network"));
      }
      inputs.push_back(found->second);
    }
  }
  return edges;
}

// Returns the error that names a cycle. Each layer without a place in the order
// has an input without one. The search goes from layer to such an input until
// it meets a layer again.
absl::Status DescribeCycle(const Network& network,
                           const std::vector<std::vector<size_t>>& edges,
                           const std::vector<bool>& placed) {
  std::vector<size_t> path;
  size_t node = static_cast<size_t>(
      std::find(placed.begin(), placed.end(), false) - placed.begin());
  while (std::find(path.begin(), path.end(), node) == path.end()) {
    path.push_back(node);
    for (const size_t value : edges[node]) {
      if (value < network.inputs().size()) continue;
      const size_t source = value - network.inputs().size();
      if (placed[source]) continue;
      node = source;
      break;
    }
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), node));
  path.push_back(node);
  std::reverse(path.begin(), path.end());
  std::vector<std::string> names;
  for (const size_t i : path) names.push_back(network.nodes()[i].name);
  return absl::InvalidArgumentError(
      absl::StrCat("the network has a cycle: ", absl::StrJoin(names, " -> ")));
}

// Returns the nodes in an order in which each comes after its inputs. If they
// were added in such an order, they keep it, and one pass is enough. A pass
// that places no node has found a cycle.
absl::StatusOr<std::vector<size_t>> SortNodes(
    const Network& network, const std::vector<std::vector<size_t>>& edges) {
  std::vector<size_t> order;
  std::vector<bool> placed(edges.size(), false);
  const auto is_ready = [&](size_t value) {
    return value < network.inputs().size() ||
           placed[value - network.inputs().size()];
  };
  bool progress = true;
  while (progress && order.size() < edges.size()) {
    progress = false;
    for (size_t node = 0; node < edges.size(); ++node) {
      if (placed[node] ||
          !std::all_of(edges[node].begin(), edges[node].end(), is_ready)) {
        continue;
      }
      placed[node] = true;
      progress = true;
      order.push_back(node);
    }
  }
  if (!progress) return DescribeCycle(network, edges, placed);
  return order;
}

// Returns the outputs of layers, except losses, that no layer reads; with
// `losses_read` false, reads by losses do not count.
std::vector<size_t> UnreadValues(const ResolvedNetwork& network,
                                 bool losses_read) {
  std::vector<bool> read(network.inputs.size() + network.layers.size(), false);
  for (size_t l = 0; l < network.layers.size(); ++l) {
    const auto& layer = network.layers[l];
    if (layer.is_loss()) read[network.inputs.size() + l] = true;
    if (layer.is_loss() && !losses_read) continue;
    for (const size_t value : layer.inputs) read[value] = true;
  }
  std::vector<size_t> unread;
  for (size_t v = network.inputs.size(); v < read.size(); ++v) {
    if (!read[v]) unread.push_back(v);
  }
  return unread;
}

// Fails unless there is exactly one loss; `prediction` becomes the value that
// it reads.
absl::Status FindLoss(const ResolvedNetwork& network, size_t* prediction) {
  bool found = false;
  for (const auto& layer : network.layers) {
    if (!layer.is_loss()) continue;
    if (found) {
      return absl::InvalidArgumentError(absl::StrCat(
          "layer \"", layer.name, "\" is a second loss; one is supported"));
    }
    found = true;
    *prediction = layer.inputs[0];
  }
  if (found) return absl::OkStatus();
  return absl::InvalidArgumentError(
      network.mode == NetworkMode::kTraining
          ? "the network has no loss, so it cannot be trained"
          : "the network has no loss, so it cannot be kept");
}

// Sets the output to the value that the loss reads. Fails if no layer reads
// some layer's output, which then leads to no loss.
absl::Status FindTrainingOutputs(ResolvedNetwork* network) {
  size_t prediction = 0;
  const absl::Status status = FindLoss(*network, &prediction);
  if (!status.ok()) return status;
  network->outputs = {prediction};
  for (const size_t value : UnreadValues(*network, /*losses_read=*/true)) {
    const auto& layer = network->layers[value - network->inputs.size()];
    return absl::InvalidArgumentError(
        absl::StrCat("layer \"", layer.name, "\" leads to no loss: remove it"));
  }
  return absl::OkStatus();
}

// Sets `layer->weights_of` to the layer whose weights `layer` uses: its own
// index, which is the next in the network, or the owner of the named layer's
// weights. Fails if no earlier layer has the name, if the shapes differ, or if
// there are statistics.
absl::Status ShareWeights(const std::string& weights_of,
                          const ResolvedNetwork& network,
                          ResolvedNetwork::ResolvedLayer* layer) {
  layer->weights_of = network.layers.size();
  if (weights_of.empty()) return absl::OkStatus();
  for (const ResolvedNetwork::ResolvedLayer& owner : network.layers) {
    if (owner.name != weights_of) continue;
    layer->weights_of = owner.weights_of;
    const auto& own = layer->signature;
    const auto& other = network.layers[owner.weights_of].signature;
    bool same = own.statistics.empty() && other.statistics.empty() &&
                own.weights.size() == other.weights.size();
    for (size_t i = 0; same && i < own.weights.size(); ++i) {
      same = own.weights[i].spec.shape == other.weights[i].spec.shape;
    }
    if (same) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("cannot use the weights of layer \"", weights_of,
                     "\": they have other shapes, or statistics"));
  }
  return absl::NotFoundError(absl::StrCat(
      "no layer \"", weights_of, "\" runs before to share its ", "weights"));
}

// Fails if a layer reads the loss, which inference may leave out.
absl::Status CheckUnread(const Network& network,
                         const std::vector<std::vector<size_t>>& edges,
                         size_t loss) {
  for (size_t other = 0; other < edges.size(); ++other) {
    if (std::count(edges[other].begin(), edges[other].end(),
                   network.inputs().size() + loss) == 0) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("layer \"", network.nodes()[other].name,
                     "\" reads the loss \"", network.nodes()[loss].name, "\""));
  }
  return absl::OkStatus();
}

// Describes the layers in their order. In inference it leaves out losses unless
// `keep_loss` is set.
absl::Status DescribeLayers(const Network& network, const MathBackend& math,
                            bool pack_winners, bool keep_loss,
                            const std::vector<std::vector<size_t>>& edges,
                            const std::vector<size_t>& order,
                            ResolvedNetwork* resolved) {
  const size_t inputs = network.inputs().size();
  // The number of each value in `resolved`, whose layers are in running order.
  // A loss that is left out gets no number, and nothing reads it.
  std::vector<size_t> renumbered(inputs + order.size());
  for (size_t v = 0; v < inputs; ++v) renumbered[v] = v;
  absl::flat_hash_set<std::string> names;
  for (const size_t index : order) {
    const Network::Node& node = network.nodes()[index];
    ResolvedNetwork::ResolvedLayer layer;
    layer.name = node.name;
    layer.layer = node.layer;
    LayerInputs described = {{}, resolved->mode, math, pack_winners};
    for (const size_t value : edges[index]) {
      layer.inputs.push_back(renumbered[value]);
      described.inputs.push_back(resolved->spec(renumbered[value]));
    }
    // Asks the layer for its signature, and checks it.
    absl::StatusOr<LayerSignature> signature = node.layer->Describe(described);
    if (!signature.ok()) return InLayer(node.name, signature.status());
    absl::Status status = CheckSizes(*signature);
    if (status.ok()) status = CheckOperands(*signature, described);
    if (!status.ok()) return InLayer(node.name, status);
    layer.signature = *std::move(signature);
    if (layer.is_loss() && resolved->mode == NetworkMode::kInference) {
      status = CheckUnread(network, edges, index);
      if (!status.ok()) return status;
      if (!keep_loss) continue;
    }
    // Only the owner of weights gives them their names.
    status = ShareWeights(node.weights_of, *resolved, &layer);
    if (status.ok() && layer.weights_of == resolved->layers.size()) {
      status = CheckParameterNames(layer, &names);
    }
    if (!status.ok()) return InLayer(node.name, status);
    renumbered[inputs + index] = inputs + resolved->layers.size();
    resolved->layers.push_back(std::move(layer));
  }
  return absl::OkStatus();
}

}  // namespace

void Network::AddInput(std::string name, TensorType spec) {
  inputs_.push_back({std::move(name), spec});
}

void Network::AddLayer(std::string name, LayerPointer layer,
                       std::vector<std::string> inputs,
                       std::string weights_of) {
  nodes_.push_back({std::move(name), std::move(layer), std::move(inputs),
                    std::move(weights_of)});
}

void Network::AddGroup(ParameterGroup group) {
  groups_.push_back(std::move(group));
}

void Network::Freeze(std::string pattern) {
  ParameterGroup group;
  group.pattern = std::move(pattern);
  group.frozen = true;
  AddGroup(std::move(group));
}

bool ResolvedNetwork::ResolvedLayer::depends_on_batch() const {
  const std::vector<Operand>& writes = signature.forward.writes;
  return signature.couples_rows ||
         std::any_of(writes.begin(), writes.end(), [](const Operand& operand) {
           return operand.role == Role::kRunningStatistic;
         });
}

absl::StatusOr<ResolvedNetwork> ResolveNetwork(const Network& network,
                                               NetworkMode mode,
                                               const MathBackend& math,
                                               bool pack_winners,
                                               bool keep_loss) {
  if (network.nodes().empty()) {
    return absl::InvalidArgumentError("the network has no layer");
  }
  for (const Network::Input& input : network.inputs()) {
    const absl::Status status = CheckedSizeBytes(input.spec).status();
    if (!status.ok()) {
      return absl::Status(
          status.code(),
          absl::StrCat("input \"", input.name, "\": ", status.message()));
    }
  }
  // Finds an order in which the layers can run.
  const absl::StatusOr<ValueByName> values = NumberValues(network);
  if (!values.ok()) return values.status();
  const auto edges = FindEdges(network, *values);
  if (!edges.ok()) return edges.status();
  const absl::StatusOr<std::vector<size_t>> order = SortNodes(network, *edges);
  if (!order.ok()) return order.status();
  // Infers the shapes, layer by layer.
  ResolvedNetwork resolved;
  resolved.mode = mode;
  resolved.inputs = network.inputs();
  resolved.groups = network.groups();
  absl::Status status = DescribeLayers(network, math, pack_winners, keep_loss,
                                       *edges, *order, &resolved);
  if (!status.ok()) return status;
  if (mode == NetworkMode::kTraining) {
    status = FindTrainingOutputs(&resolved);
  } else {
    size_t prediction = 0;
    // Checks only that there is one loss.
    if (keep_loss) status = FindLoss(resolved, &prediction);
    resolved.outputs = UnreadValues(resolved, /*losses_read=*/false);
  }
  if (!status.ok()) return status;
  return resolved;
}

}  // namespace footprint
