// Adds adapters (LoRA) to a network: small trained matrices beside the weights
// of fully connected layers, which then stay as they are.
//
//   footprint::LoraOptions options;
//   options.rank = 8;
//   options.alpha = 16;
//   options.targets = {{"*.qkv", 0, 3, "*.q_proj"},
//                      {"*.qkv", 2, 3, "*.v_proj"}};
//   options.trained = {"head.*"};
//   const auto adapted = footprint::AddAdapters(network, options);
//   const auto plan = footprint::PlanExecution(
//       adapted->network, footprint::NetworkMode::kTraining, {}, states);
//
// The result has the layers of the given network under their names, but each
// target is a LoraFullyConnected (//trainer_manager:lora). It is planned and
// run like any other network. LoadBaseParameters (adapter_file.h) loads weights
// of the network without adapters. Without `trained`, nothing but the adapters
// is trained: no other weight has a gradient or an optimizer state.
//
// An attention layer has no weights of its own: its adapters belong to the
// fully connected layer that computes queries, keys and values, or to thirds of
// its units.
//
// A pure function, thread-safe; the result shares the layers. Memory: some
// hundred bytes a parameter.

#ifndef FOOTPRINT_TRAINER_MANAGER_ADAPTERS_ADD_ADAPTERS_H_
#define FOOTPRINT_TRAINER_MANAGER_ADAPTERS_ADD_ADAPTERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/layers/lora.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"

namespace footprint {

struct LoraTarget {
  // A pattern of layers' names, in which a * matches any number of characters.
  // Matching layers that are not fully connected are ignored.
  std::string layers;
  // The adapter changes part `part`, from 0, of `parts` equal parts of the
  // units.
  int64_t part = 0;
  int64_t parts = 1;
  // The module's name in PEFT's files, if it is not the layer's. A * in it
  // stands for what the * of `layers` matched; then each of the two must have
  // exactly one.
  std::string module = "";
};

struct LoraOptions {
  int64_t rank = 8;
  // The product of the matrices is scaled by alpha / rank, or by alpha /
  // sqrt(rank) if `rank_stabilized`.
  float alpha = 8;
  bool rank_stabilized = false;
  std::vector<LoraTarget> targets;
  // Patterns of other parameters, which are trained as a whole, such as
  // "head.*". Files of adapters hold them too.
  std::vector<std::string> trained;
};

// A layer's pair of matrices.
struct Adapter {
  std::string layer;
  std::string module;  // in PEFT's files
  LoraMatrices matrices;

  // Returns the names of the matrices among the model's parameters.
  std::string NameA() const;
  std::string NameB() const;
};

struct AdaptedNetwork {
  Network network;
  LoraOptions options;
  std::vector<Adapter> adapters;  // in the order of the layers
  // The parameters that files of adapters hold, by the model's names: the
  // adapters' matrices, and all parameters of the layers that
  // LoraOptions::trained matches.
  ParameterMap file_tensors;
};

// Returns the network with adapters. Returns InvalidArgument if there is no
// target; if a target matches no layer, or none that is fully connected; if its
// part is not one of its parts, or these do not divide the units; if the * of a
// module has no single * to stand for; if two targets are of the same units of
// a layer, or of one module; if a target's layer shares its weights; if a rank
// is larger than an extent of the matrix, or below 1; if an alpha is not finite
// or not above 0; if a pattern of `trained` matches no parameter, a target's
// weight, or only some parameters of a layer; if a layer's name has a *; or if
// the network has groups, which must be added to the result instead. Other
// errors are those of ResolveNetwork.
absl::StatusOr<AdaptedNetwork> AddAdapters(const Network& network,
                                           const LoraOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_ADAPTERS_ADD_ADAPTERS_H_
