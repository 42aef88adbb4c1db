// A network: named layers and their inputs.
//
//   footprint::Network network;
//   network.AddInput("image", {{32, 784}});
//   network.AddLayer("hidden", footprint::FullyConnected(50), {"image"});
//   network.AddLayer("relu", footprint::Relu(), {"hidden"});
//   network.AddLayer("loss", footprint::MeanSquaredError(), {"relu"});
//
// Layers may be added in any order. Nothing is checked before ResolveNetwork,
// which infers all shapes and names what is wrong. Keeps the layers alive.
// Thread-compatible. Memory: a few hundred bytes a layer.

#ifndef FOOTPRINT_TRAINER_MANAGER_NETWORKS_NETWORK_H_
#define FOOTPRINT_TRAINER_MANAGER_NETWORKS_NETWORK_H_

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/parameter_group.h"

namespace footprint {

class Network {
 public:
  struct Input {
    std::string name;
    TensorType spec;  // the first extent is the batch
  };
  struct Node {
    std::string name;
    LayerPointer layer;
    std::vector<std::string> inputs;  // names of inputs or layers
    std::string weights_of;           // the name of a layer, or empty
  };

  void AddInput(std::string name, TensorType spec);
  // Adds a layer. If `weights_of` names another layer, which must run before
  // it, the layer uses the weights of that one and has none of its own.
  void AddLayer(std::string name, LayerPointer layer,
                std::vector<std::string> inputs, std::string weights_of = "");

  // Trains the parameters that match the group's pattern as the group says. A
  // parameter may match only one group, and each pattern must match a
  // parameter; AssignGroups (assign_groups.h) checks this when a training is
  // planned. Inference ignores groups.
  void AddGroup(ParameterGroup group);
  // Adds a group that is not trained, such as "backbone.*". The plan then has
  // no backward steps before the first trained layer and keeps nothing for
  // them, and a frozen batch normalization normalizes by its running
  // statistics.
  void Freeze(std::string pattern);

  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<ParameterGroup>& groups() const { return groups_; }

 private:
  std::vector<Input> inputs_;
  std::vector<Node> nodes_;
  std::vector<ParameterGroup> groups_;
};

// The network in an order in which it can run. A value is a network input or
// the output of a layer. Values are numbered: first the inputs, then the
// layers.
struct ResolvedNetwork {
  struct ResolvedLayer {
    std::string name;
    LayerPointer layer;
    std::vector<size_t> inputs;  // values
    // the layer whose weights it uses: its own index, unless they are shared
    size_t weights_of = 0;
    LayerSignature signature;
    // Whether the weights are not trained. AssignGroups (assign_groups.h) sets
    // this.
    bool is_frozen = false;
    bool is_loss() const { return signature.label.has_value(); }
    // Returns whether the layer has weights that are trained.
    bool is_trained() const { return !is_frozen && !signature.weights.empty(); }
    // Returns whether the result depends on how the batch is divided: the layer
    // takes statistics of the batch, or its signature sets couples_rows.
    bool depends_on_batch() const;
  };

  static constexpr size_t kNoGroup = std::numeric_limits<size_t>::max();

  NetworkMode mode = NetworkMode::kInference;
  std::vector<Network::Input> inputs;
  std::vector<ParameterGroup> groups;
  // The group of each weight of each layer, or kNoGroup. AssignGroups sets this
  // if there are groups.
  std::vector<std::vector<size_t>> group_of;
  std::vector<ResolvedLayer> layers;
  // Values: in training the one that the loss reads as its prediction; in
  // inference the outputs of layers that no layer but a loss reads. An input of
  // the network is no output of an inference.
  std::vector<size_t> outputs;

  const TensorType& spec(size_t value) const {
    return value < inputs.size()
               ? inputs[value].spec
               : layers[value - inputs.size()].signature.output;
  }
};

// Returns the network in running order, with all shapes. `pack_winners`: see
// LayerInputs. In inference losses are left out unless `keep_loss` is set, and
// the values that only they read are outputs. Layers keep the order in which
// they were added, as far as it can run.
//
// The message of an error names the layer or the input. Returns InvalidArgument
// if there is no layer, if a name is not UTF-8, if the steps of a signature
// cannot run (CheckOperands), if there is a cycle, if a layer cannot take an
// input or a shape, or if an extent is below 1 or there are more than kMaxRank;
// in training also if a layer leads to no loss; in inference also if a layer
// reads the loss; in training or with keep_loss also if the number of losses is
// not one. Returns AlreadyExists if two inputs or layers, or two weights or
// statistics, have one name. Returns InvalidArgument also if a name is empty or
// a layer is null. Returns NotFound if an input is neither an input nor a
// layer, or if the layer to share weights with does not run before;
// InvalidArgument also if shared weights differ in shape or one of the two
// layers keeps statistics. Returns OutOfRange if a tensor has more than 2^63 -
// 1 bytes.
absl::StatusOr<ResolvedNetwork> ResolveNetwork(
    const Network& network, NetworkMode mode,
    const MathBackend& math = ReferenceMath(), bool pack_winners = true,
    bool keep_loss = false);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_NETWORKS_NETWORK_H_
