#include "footprint/trainer_manager/networks/reference_networks.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/attention.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/structure_layers.h"

namespace footprint {
namespace {

// Adds layers one after the other.
class Chain {
 public:
  Chain(Network* network, std::string start)
      : network_(*network), last_(std::move(start)) {}

  Chain& Then(const std::string& name, LayerPointer layer) {
    network_.AddLayer(name, std::move(layer), {last_});
    last_ = name;
    return *this;
  }
  Chain& ThenAdd(const std::string& name, const std::string& other) {
    network_.AddLayer(name, Add(), {last_, other});
    last_ = name;
    return *this;
  }
  const std::string& last() const { return last_; }

 private:
  Network& network_;
  std::string last_;
};

LayerPointer Filters(int64_t channels, int64_t kernel, int64_t stride,
                     int64_t padding, bool bias) {
  Convolution2dOptions options;
  options.channels = channels;
  options.kernel = kernel;
  options.stride = stride;
  options.padding = padding;
  options.bias = bias;
  return Convolution2d(options);
}

void AddResidualBlock(int64_t channels, int64_t stride, const std::string& name,
                      Chain* chain, Network* network) {
  std::string shortcut = chain->last();
  if (stride != 1) {
    network->AddLayer(name + "_shortcut",
                      Filters(channels, 1, stride, 0, false), {shortcut});
    shortcut = name + "_shortcut";
  }
  chain->Then(name + "_conv1", Filters(channels, 3, stride, 1, false))
      .Then(name + "_bn1", BatchNormalization())
      .Then(name + "_relu1", Relu())
      .Then(name + "_conv2", Filters(channels, 3, 1, 1, false))
      .ThenAdd(name + "_add", shortcut)
      .Then(name + "_bn2", BatchNormalization())
      .Then(name + "_relu2", Relu());
}

void AddTransformerLayer(const std::string& name, Chain* chain) {
  AttentionOptions attention;
  attention.heads = 4;
  attention.causal = true;
  const std::string input = chain->last();
  chain->Then(name + "_norm1", LayerNormalization())
      .Then(name + "_qkv", FullyConnected(3 * 128))
      .Then(name + "_attention", Attention(attention))
      .Then(name + "_projection", FullyConnected(128))
      .ThenAdd(name + "_add1", input);
  const std::string middle = chain->last();
  chain->Then(name + "_norm2", LayerNormalization())
      .Then(name + "_fc1", FullyConnected(512))
      .Then(name + "_gelu", Gelu())
      .Then(name + "_fc2", FullyConnected(128))
      .ThenAdd(name + "_add2", middle);
}

}  // namespace

Network TabularMlp(int64_t batch) {
  Network network;
  network.AddInput("rows", {{batch, 13}});
  Chain(&network, "rows")
      .Then("fc1", FullyConnected(50))
      .Then("relu1", Relu())
      .Then("fc2", FullyConnected(50))
      .Then("relu2", Relu())
      .Then("fc3", FullyConnected(1))
      .Then("loss", MeanSquaredError());
  return network;
}

Network DigitMlp(int64_t batch) {
  Network network;
  network.AddInput("image", {{batch, 784}});
  Chain(&network, "image")
      .Then("fc1", FullyConnected(512))
      .Then("relu1", Relu())
      .Then("fc2", FullyConnected(512))
      .Then("relu2", Relu())
      .Then("fc3", FullyConnected(10))
      .Then("loss", SoftmaxCrossEntropy());
  return network;
}

Network LeNet5(int64_t batch) {
  Network network;
  network.AddInput("image", {{batch, 1, 28, 28}});
  Chain(&network, "image")
      .Then("conv1", Filters(6, 5, 1, 2, true))
      .Then("tanh1", Tanh())
      .Then("pool1", AveragePool2d(2))
      .Then("conv2", Filters(16, 5, 1, 0, true))
      .Then("tanh2", Tanh())
      .Then("pool2", AveragePool2d(2))
      .Then("flatten", Flatten())
      .Then("fc1", FullyConnected(120))
      .Then("tanh3", Tanh())
      .Then("fc2", FullyConnected(84))
      .Then("tanh4", Tanh())
      .Then("fc3", FullyConnected(10))
      .Then("loss", SoftmaxCrossEntropy());
  return network;
}

Network SmallLeNet(int64_t batch) {
  Network network;
  network.AddInput("image", {{batch, 1, 28, 28}});
  Chain(&network, "image")
      .Then("conv1", Filters(6, 5, 1, 0, true))
      .Then("sigmoid1", Sigmoid())
      .Then("pool1", AveragePool2d(2))
      .Then("conv2", Filters(12, 5, 1, 0, true))
      .Then("sigmoid2", Sigmoid())
      .Then("pool2", AveragePool2d(2))
      .Then("flatten", Flatten())
      .Then("fc", FullyConnected(10))
      .Then("loss", SoftmaxCrossEntropy());
  return network;
}

Network Vgg16(int64_t batch) {
  Network network;
  network.AddInput("image", {{batch, 3, 32, 32}});
  Chain chain(&network, "image");
  const std::vector<std::vector<int64_t>> stages = {
      {64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}};
  for (size_t s = 0; s < stages.size(); ++s) {
    for (size_t i = 0; i < stages[s].size(); ++i) {
      const std::string place = absl::StrCat(s + 1, "_", i + 1);
      chain.Then("conv" + place, Filters(stages[s][i], 3, 1, 1, true))
          .Then("relu" + place, Relu());
    }
    chain.Then(absl::StrCat("pool", s + 1), MaxPool2d(2));
  }
  chain.Then("flatten", Flatten())
      .Then("fc1", FullyConnected(256))
      .Then("bn", BatchNormalization())
      .Then("relu", Relu())
      .Then("fc2", FullyConnected(100))
      .Then("loss", SoftmaxCrossEntropy());
  return network;
}

Network ResNet18(int64_t batch) {
  Network network;
  network.AddInput("image", {{batch, 3, 32, 32}});
  Chain chain(&network, "image");
  chain.Then("conv", Filters(64, 3, 1, 1, false))
      .Then("bn", BatchNormalization())
      .Then("relu", Relu());
  int64_t channels = 64;
  for (int stage = 1; stage <= 4; ++stage, channels *= 2) {
    AddResidualBlock(channels, stage == 1 ? 1 : 2,
                     absl::StrCat("block", stage, "a"), &chain, &network);
    AddResidualBlock(channels, 1, absl::StrCat("block", stage, "b"), &chain,
                     &network);
  }
  chain.Then("pool", AveragePool2d(4))
      .Then("flatten", Flatten())
      .Then("fc", FullyConnected(100))
      .Then("loss", SoftmaxCrossEntropy());
  return network;
}

Network SmallTransformer(int64_t batch) {
  Network network;
  network.AddInput("tokens", {{batch, 64}, DType::kI32});
  Chain chain(&network, "tokens");
  chain.Then("embedding", Embedding(1000, 128))
      .Then("position", PositionEmbedding());
  AddTransformerLayer("layer1", &chain);
  AddTransformerLayer("layer2", &chain);
  chain.Then("norm", LayerNormalization())
      .Then("logits", FullyConnected(1000))
      .Then("loss", SoftmaxCrossEntropy());
  return network;
}

}  // namespace footprint
