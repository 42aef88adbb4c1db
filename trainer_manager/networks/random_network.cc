#include "footprint/trainer_manager/networks/random_network.h"

#include <iterator>
#include <map>
#include <random>
#include <set>
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
#include "footprint/trainer_manager/layers/rotary_positions.h"
#include "footprint/trainer_manager/layers/structure_layers.h"

namespace footprint {
namespace {

LayerPointer SmallFilters() {
  Convolution2dOptions options;
  options.channels = 3;
  options.kernel = 3;
  options.padding = 1;
  return Convolution2d(options);
}

// Holds values of images by their height; any number of layers may read each.
class ImageNetworkBuilder {
 public:
  explicit ImageNetworkBuilder(uint32_t seed) : random_(seed) {
    network_.AddInput("x", {{3 + static_cast<int64_t>(seed % 18), 3, 8, 8}});
    values_[8] = {"x"};
  }

  Network Build() {
    const int layers = 4 + static_cast<int>(random_() % 12);
    for (int i = 0; i < layers; ++i) AddRandomLayer(absl::StrCat("layer", i));
    std::string last;
    int heads = 0;
    for (const std::string& name : std::set<std::string>(unread_)) {
      const std::string head = absl::StrCat("head", heads++);
      network_.AddLayer(head + "_flat", Flatten(), {name});
      network_.AddLayer(head, FullyConnected(2), {head + "_flat"});
      if (!last.empty()) {
        network_.AddLayer(head + "_sum", Add(), {last, head});
      }
      last = last.empty() ? head : head + "_sum";
    }
    network_.AddLayer("loss", MeanSquaredError(), {last});
    return network_;
  }

 private:
  // Returns a height for which there are values.
  int64_t DrawHeight() {
    auto found = values_.begin();
    std::advance(found, random_() % values_.size());
    return found->first;
  }

  // Returns mostly the newest value, which makes chains.
  std::string Draw(int64_t height) {
    const std::vector<std::string>& values = values_[height];
    const std::string name =
        random_() % 3 == 0 ? values[random_() % values.size()] : values.back();
    unread_.erase(name);
    return name;
  }

  void AddPool(const std::string& name, int64_t height) {
    const int64_t window = 1 + static_cast<int64_t>(random_() % 3);
    const int64_t stride = 1 + static_cast<int64_t>(random_() % 3);
    if (window > height) return AddRandomLayer(name);
    const bool largest = random_() % 4 != 0;
    AddValue(
        name, (height - window) / stride + 1,
        largest ? MaxPool2d(window, stride) : AveragePool2d(window, stride),
        {Draw(height)});
  }

  void AddValue(const std::string& name, int64_t height, LayerPointer layer,
                std::vector<std::string> inputs) {
    network_.AddLayer(name, std::move(layer), std::move(inputs));
    values_[height].push_back(name);
    unread_.insert(name);
  }

  void AddRandomLayer(const std::string& name) {
    const int64_t height = DrawHeight();
    switch (random_() % 11) {
      case 0:
      case 1:
        return AddValue(name, height, SmallFilters(), {Draw(height)});
      case 2:
      case 3:
        return AddValue(name, height, Relu(), {Draw(height)});
      case 4:
        return AddValue(name, height, Tanh(), {Draw(height)});
      case 5:
        return AddValue(name, height, Gelu(), {Draw(height)});
      case 6:
        return AddValue(name, height, BatchNormalization(), {Draw(height)});
      case 7:
        return AddValue(name, height, Dropout(0.5f), {Draw(height)});
      case 8:
        return AddValue(name, height, Add(), {Draw(height), Draw(height)});
      default:
        return AddPool(name, height);
    }
  }

  std::mt19937 random_;
  Network network_;
  std::map<int64_t, std::vector<std::string>> values_;
  std::set<std::string> unread_;
};

// Makes a layer of kind 1 to 7.
LayerPointer LayerOfOneInput(uint32_t kind) {
  switch (kind) {
    case 1:
      return Relu();
    case 2:
      return Gelu();
    case 3:
      return Flatten();
    case 4:
      return BatchNormalization();
    case 5:
      return Dropout(0.5f);
    case 6:
      return LayerNormalization();
    default:
      return Sigmoid();
  }
}

LayerPointer Filters(int64_t channels, int64_t kernel, int64_t stride) {
  Convolution2dOptions options;
  options.channels = channels;
  options.kernel = kernel;
  options.stride = stride;
  options.padding = kernel / 2;
  options.bias = false;
  return Convolution2d(options);
}

// A chain of layers with sums over values from some layers back.
class ResidualBuilder {
 public:
  explicit ResidualBuilder(std::string input) : last_(std::move(input)) {}

  void Then(const std::string& name, LayerPointer layer) {
    network.AddLayer(name, std::move(layer), {last_});
    last_ = name;
  }
  void ThenAdd(const std::string& name, const std::string& other) {
    network.AddLayer(name, Add(), {last_, other});
    last_ = name;
  }

  // Adds a block for images. With a stride, the shortcut also has a
  // convolution.
  void AddImageBlock(const std::string& name, int64_t channels,
                     int64_t stride) {
    std::string shortcut = last_;
    if (stride != 1) {
      shortcut = name + "_shortcut";
      network.AddLayer(shortcut, Filters(channels, 1, stride), {last_});
    }
    Then(name + "_conv1", Filters(channels, 3, stride));
    Then(name + "_bn1", BatchNormalization());
    Then(name + "_relu1", Relu());
    Then(name + "_conv2", Filters(channels, 3, 1));
    Then(name + "_bn2", BatchNormalization());
    ThenAdd(name + "_add", shortcut);
    Then(name + "_relu2", Relu());
  }

  void AddTokenBlock(const std::string& name, int64_t width, int heads,
                     int64_t wide) {
    AttentionOptions attention;
    attention.heads = heads;
    const std::string input = last_;
    Then(name + "_norm1", LayerNormalization());
    Then(name + "_qkv", FullyConnected(3 * width));
    Then(name + "_attention", Attention(attention));
    Then(name + "_projection", FullyConnected(width));
    ThenAdd(name + "_add1", input);
    const std::string middle = last_;
    Then(name + "_norm2", LayerNormalization());
    Then(name + "_fc1", FullyConnected(wide));
    Then(name + "_gelu", Gelu());
    Then(name + "_fc2", FullyConnected(width));
    ThenAdd(name + "_add2", middle);
  }

  Network network;

 private:
  std::string last_;
};

}  // namespace

Network RandomRowNetwork(uint32_t seed) {
  std::mt19937 random(seed);
  Network network;
  network.AddInput("x", {{4, 6}});
  std::vector<std::string> values = {"x"};
  std::set<std::string> unread;
  std::string owner;
  const int layers = 3 + static_cast<int>(random() % 10);
  const auto pick = [&] {
    const std::string name = values[random() % values.size()];
    unread.erase(name);
    return name;
  };
  for (int i = 0; i < layers; ++i) {
    const std::string name = absl::StrCat("layer", i);
    const uint32_t kind = static_cast<uint32_t>(random() % 9);
    if (kind == 0) {
      // Half of the time, shares the weights of an earlier layer.
      const bool shares = !owner.empty() && random() % 2 == 0;
      network.AddLayer(name, FullyConnected(6), {pick()}, shares ? owner : "");
      owner = shares ? owner : name;
    } else if (kind == 8) {
      network.AddLayer(name, Add(), {pick(), pick()});
    } else {
      network.AddLayer(name, LayerOfOneInput(kind), {pick()});
    }
    values.push_back(name);
    unread.insert(name);
  }
  std::string last = "x";
  int sums = 0;
  for (const std::string& name : unread) {
    const std::string sum = absl::StrCat("sum", sums++);
    network.AddLayer(sum, Add(), {last, name});
    last = sum;
  }
  network.AddLayer("head", FullyConnected(2), {last});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  return network;
}

Network RandomTokenNetwork(uint32_t seed) {
  std::mt19937 random(seed);
  Network network;
  network.AddInput("x", {{2 + static_cast<int64_t>(seed % 7), 5}, DType::kI32});
  network.AddLayer("embedding", Embedding(kTokens, 12), {"x"});
  network.AddLayer("position", PositionEmbedding(), {"embedding"});
  std::string last = "position";
  const auto then = [&](const std::string& name, LayerPointer layer) {
    network.AddLayer(name, std::move(layer), {last});
    last = name;
  };
  const int blocks = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < blocks; ++i) {
    const std::string name = absl::StrCat("block", i);
    const std::string input = last;
    if (random() % 2 == 0) then(name + "_norm", LayerNormalization());
    if (random() % 2 == 0) {
      AttentionOptions options;
      options.heads = random() % 2 == 0 ? 1 : 3;
      options.causal = random() % 2 == 0;
      then(name + "_qkv", FullyConnected(36));
      then(name + "_attention", Attention(options));
    } else {
      then(name + "_wide", FullyConnected(20));
      then(name + "_gelu", Gelu());
      then(name + "_fc", FullyConnected(12));
    }
    if (random() % 3 == 0) then(name + "_dropout", Dropout(0.25f));
    if (random() % 3 == 0) continue;
    network.AddLayer(name + "_sum", Add(), {last, input});
    last = name + "_sum";
  }
  then("logits", FullyConnected(kTokens));
  then("loss", SoftmaxCrossEntropy());
  return network;
}

Network RandomGatedNetwork(uint32_t seed) {
  std::mt19937 random(seed);
  constexpr int64_t kWidth = 12;
  Network network;
  network.AddInput("x", {{1 + static_cast<int64_t>(seed % 4), 5}, DType::kI32});
  network.AddLayer("embedding", Embedding(kTokens, kWidth), {"x"});
  std::string last = "embedding";
  const auto then = [&](const std::string& name, LayerPointer layer,
                        const std::string& second = "") {
    std::vector<std::string> inputs = {last};
    if (!second.empty()) inputs.push_back(second);
    network.AddLayer(name, std::move(layer), std::move(inputs));
    last = name;
  };
  AttentionOptions attention;
  attention.causal = true;
  attention.heads = random() % 2 == 0 ? 2 : 6;
  attention.key_heads = attention.heads / 2;
  RotaryOptions rotary;
  rotary.head_width = kWidth / attention.heads;
  rotary.heads = attention.heads + attention.key_heads;
  then("norm1", RmsNormalization());
  then("qkv", FullyConnected(2 * kWidth));
  if (random() % 4 > 0) then("turned", RotaryPositions(rotary));
  then("attention", Attention(attention));
  then("projection", FullyConnected(kWidth));
  then("sum1", Add(), "embedding");
  const std::string middle = last;
  then("norm2", RmsNormalization());
  const std::string normed = last;
  then("up", FullyConnected(20));
  const std::string up = last;
  last = normed;
  then("gate", FullyConnected(20));
  then("silu", Silu());
  then("product", Multiply(), up);
  if (random() % 4 == 0) then("square", Multiply(), last);
  then("down", FullyConnected(kWidth));
  then("sum2", Add(), middle);
  then("logits", FullyConnected(kTokens));
  then("loss", SoftmaxCrossEntropy());
  return network;
}

Network RandomImageNetwork(uint32_t seed) {
  return ImageNetworkBuilder(seed).Build();
}

Network RandomResidualNetwork(uint32_t seed) {
  std::mt19937 random(seed);
  const auto draw = [&random](uint32_t least, uint32_t most) {
    return static_cast<int64_t>(least + random() % (most - least + 1));
  };
  ResidualBuilder builder("image");
  const int64_t batch = draw(2, 13);
  const int64_t height = 4 * draw(2, 4);
  builder.network.AddInput("image", {{batch, 3, height, 4 * draw(2, 4)}});
  int64_t channels = 2 * draw(1, 4);
  builder.Then("conv", Filters(channels, 3, 1));
  if (random() % 2 == 0) builder.Then("bn", BatchNormalization());
  builder.Then("relu", Relu());
  const int64_t blocks = draw(1, 4);
  for (int64_t i = 0; i < blocks; ++i) {
    const std::string name = absl::StrCat("block", i);
    const bool shrinks = i == 2;
    if (i == 1) {
      builder.Then("pool", random() % 2 == 0 ? MaxPool2d(2) : AveragePool2d(2));
    }
    if (shrinks) channels *= 2;
    builder.AddImageBlock(name, channels, shrinks ? 2 : 1);
  }
  builder.Then("last_pool", AveragePool2d(2));
  builder.Then("flatten", Flatten());
  builder.Then("fc", FullyConnected(2));
  builder.Then("loss", MeanSquaredError());
  return builder.network;
}

Network RandomNetwork(uint32_t seed) {
  switch (seed % 4) {
    case 0:
      return RandomRowNetwork(seed);
    case 1:
      return RandomImageNetwork(seed);
    case 2:
      return RandomTokenNetwork(seed);
    default:
      return RandomResidualNetwork(seed);
  }
}

Network ResidualImageClassifier() {
  ResidualBuilder builder("image");
  builder.network.AddInput("image", {{13, 3, 40, 28}});
  builder.Then("conv", Filters(8, 3, 1));
  builder.Then("bn", BatchNormalization());
  builder.Then("relu", Relu());
  builder.AddImageBlock("block1", 8, 1);
  builder.Then("max_pool", MaxPool2d(2));
  builder.AddImageBlock("block2", 8, 1);
  builder.Then("average_pool", AveragePool2d(2));
  builder.Then("flatten", Flatten());
  builder.Then("fc", FullyConnected(10));
  builder.Then("loss", SoftmaxCrossEntropy());
  return builder.network;
}

Network AttentionClassifier(int blocks) {
  ResidualBuilder builder("tokens");
  builder.network.AddInput("tokens", {{16, 24}, DType::kI32});
  builder.Then("embedding", Embedding(kTokens, 32));
  builder.Then("position", PositionEmbedding());
  for (int i = 0; i < blocks; ++i) {
    builder.AddTokenBlock(absl::StrCat("block", i), 32, 4, 64);
  }
  builder.Then("norm", LayerNormalization());
  builder.Then("flatten", Flatten());
  builder.Then("fc", FullyConnected(10));
  builder.Then("loss", SoftmaxCrossEntropy());
  return builder.network;
}

}  // namespace footprint
