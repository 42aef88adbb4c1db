// A network: named layers and which of them feed which.
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
  // Adds a layer; with `weights_of`, it has no weights of its own but those of
  // another layer, which must run before it.
  void AddLayer(std::string name, LayerPointer layer,
                std::vector<std::string> inputs, std::string weights_of = "");

  // Trains the parameters that match the group's pattern as the group says. A
  // parameter may match only one group, and each pattern must match a
  // parameter. Inference ignores groups.
  void AddGroup(ParameterGroup group);
  // Adds a group that is not trained, such as "backbone.*": the plan then keeps
  // nothing for backward steps that nobody needs, and a batch normalization
  // that is frozen normalizes by its running statistics.
  void Freeze(std::string pattern);

  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<ParameterGroup>& groups() const { return groups_; }

 private:
  std::vector<Input> inputs_;
  std::vector<Node> nodes_;
  std::vector<ParameterGroup> groups_;
};

// The network in an order in which it can run. A value is a network input or a
// layer's output: value v is input v, or else the output of layer v less the
// number of inputs.
struct ResolvedNetwork {
  struct ResolvedLayer {
    std::string name;
    LayerPointer layer;
    std::vector<size_t> inputs;  // values
    size_t weights_of = 0;       // the layer whose weights it uses: its own
                                 // number, unless they are shared
    LayerSignature signature;
    // Set by AssignGroups (assign_groups.h): the weights are not trained.
    bool is_frozen = false;
    bool is_loss() const { return signature.label.has_value(); }
    // Returns whether the layer has weights that are trained.
    bool is_trained() const { return !is_frozen && !signature.weights.empty(); }
    // Returns whether the result depends on how the batch is divided: by
    // statistics that the layer takes of it, or by the number of its rows.
    bool depends_on_batch() const;
  };

  static constexpr size_t kNoGroup = std::numeric_limits<size_t>::max();

  NetworkMode mode = NetworkMode::kInference;
  std::vector<Network::Input> inputs;
  std::vector<ParameterGroup> groups;
  // Set by AssignGroups, if there are groups: the group of each weight of each
  // layer, or kNoGroup.
  std::vector<std::vector<size_t>> group_of;
  std::vector<ResolvedLayer> layers;
  std::vector<size_t> outputs;  // values: what the loss reads in training, and
                                // what no layer but the loss reads in inference

  const TensorType& spec(size_t value) const {
    return value < inputs.size()
               ? inputs[value].spec
               : layers[value - inputs.size()].signature.output;
  }
};

// `pack_winners`: see LayerInputs.
// In inference losses are left out, unless `keep_loss`, and what only they read
// is an output.
// Layers come in the order in which they were added, as far as it can run.
//
// The text of an error names the layer. InvalidArgument: no layer at all, a
// name that is not UTF-8, a signature whose steps cannot run (CheckOperands), a
// cycle, an input or a shape that the layer cannot take, an extent below 1; in
// training also a layer that leads to no loss; in training or with keep_loss no
// loss, or two.
// AlreadyExists: a name given twice, to layers or to weights. NotFound: the
// name of an input that is neither an input nor a layer, or of a layer to share
// weights with that does not run before; InvalidArgument also if the weights
// differ in shape, or one of the two keeps statistics. OutOfRange: a tensor of
// more than 2^63 - 1 bytes.
absl::StatusOr<ResolvedNetwork> ResolveNetwork(
    const Network& network, NetworkMode mode,
    const MathBackend& math = ReferenceMath(), bool pack_winners = true,
    bool keep_loss = false);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_NETWORKS_NETWORK_H_
