// Times the steps of training_steps.cc in NNTrainer: the same networks.
//
//   nntrainer_steps vgg16 32 1 sgd all
//
// The words are the network, the rows of a batch, the steps that each line of
// input asks for, the optimizer (sgd or adam) and the trained layers (all or
// head, the last one). The program answers as training_steps does. It needs
// NNTrainer's C++ interface, so no target builds it, only nntrainer_steps.sh.
//
// NNTrainer's settings are those by default, which take the least memory. Each
// epoch has one batch, so that a step can be timed, and the samples are copied
// one by one, as its interface wants. A frozen batch normalization of NNTrainer
// still uses the batch's statistics.

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dataset.h"
#include "footprint/base/memory/resident_bytes.h"
#include "layer.h"
#include "model.h"
#include "optimizer.h"

namespace {

constexpr int kClasses = 100;
constexpr int kPixels = 3 * 32 * 32;

using Properties = std::vector<std::string>;

// Adds layers one after the other; the last one that has weights is the head.
class Chain {
 public:
  Chain(ml::train::Model* model, bool head_only)
      : model_(*model), head_only_(head_only) {
    Then("input", "image", {"input_shape=3:32:32"});
  }

  Chain& Then(const std::string& type, const std::string& name,
              Properties properties, bool is_head = false) {
    if (!last_.empty()) properties.push_back("input_layers=" + last_);
    properties.push_back("name=" + name);
    // NNTrainer prepares backward steps above every layer that is not frozen,
    // even above one without weights.
    if (head_only_ && !is_head) properties.push_back("trainable=false");
    model_.addLayer(ml::train::createLayer(type, properties));
    last_ = name;
    return *this;
  }

  Chain& Filters(const std::string& name, int channels, int kernel, int stride,
                 int padding, bool bias) {
    const auto twice = [](int n) {
      return std::to_string(n) + "," + std::to_string(n);
    };
    return Then(
        "conv2d", name,
        {"filters=" + std::to_string(channels), "kernel_size=" + twice(kernel),
         "stride=" + twice(stride), "padding=" + twice(padding),
         std::string("disable_bias=") + (bias ? "false" : "true")});
  }
  Chain& Normalize(const std::string& name) {
    return Then("batch_normalization", name,
                {"epsilon=0.00001", "momentum=0.9"});
  }
  Chain& Relu(const std::string& name) {
    return Then("activation", name, {"activation=relu"});
  }
  Chain& Add(const std::string& name, const std::string& other) {
    const std::string both = last_ + "," + other;
    last_.clear();
    return Then("addition", name, {"input_layers=" + both});
  }
  // The last layer; NNTrainer makes one loss of its softmax and cross entropy.
  Chain& Classes(const std::string& name) {
    return Then("fully_connected", name,
                {"unit=" + std::to_string(kClasses), "activation=softmax"},
                true);
  }

  const std::string& last() const { return last_; }
  void set_last(const std::string& name) { last_ = name; }

 private:
  ml::train::Model& model_;
  const bool head_only_;
  std::string last_;
};

void AddVgg16(Chain* chain) {
  const std::vector<std::vector<int>> stages = {
      {64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}};
  for (size_t s = 0; s < stages.size(); ++s) {
    const std::string stage = std::to_string(s + 1);
    for (size_t i = 0; i < stages[s].size(); ++i) {
      const std::string place = stage + "_" + std::to_string(i + 1);
      chain->Filters("conv" + place, stages[s][i], 3, 1, 1, true)
          .Relu("relu" + place);
    }
    chain->Then("pooling2d", "pool" + stage,
                {"pooling=max", "pool_size=2,2", "stride=2,2"});
  }
  chain->Then("flatten", "flatten", {})
      .Then("fully_connected", "fc1", {"unit=256"})
      .Normalize("bn")
      .Relu("relu")
      .Classes("fc2");
}

void AddResidualBlock(int channels, int stride, const std::string& name,
                      Chain* chain) {
  const std::string input = chain->last();
  std::string shortcut = input;
  if (stride != 1) {
    shortcut = name + "_shortcut";
    chain->Filters(shortcut, channels, 1, stride, 0, false);
    chain->set_last(input);
  }
  chain->Filters(name + "_conv1", channels, 3, stride, 1, false)
      .Normalize(name + "_bn1")
      .Relu(name + "_relu1")
      .Filters(name + "_conv2", channels, 3, 1, 1, false)
      .Add(name + "_add", shortcut)
      .Normalize(name + "_bn2")
      .Relu(name + "_relu2");
}

void AddResNet18(Chain* chain) {
  chain->Filters("conv", 64, 3, 1, 1, false).Normalize("bn").Relu("relu");
  int channels = 64;
  for (int stage = 1; stage <= 4; ++stage, channels *= 2) {
    const std::string block = "block" + std::to_string(stage);
    AddResidualBlock(channels, stage == 1 ? 1 : 2, block + "a", chain);
    AddResidualBlock(channels, 1, block + "b", chain);
  }
  chain->Then("pooling2d", "pool", {"pooling=average", "pool_size=4,4"})
      .Then("flatten", "flatten", {})
      .Classes("fc");
}

// Lets the high-water mark of the resident set begin anew.
void ClearPeak() {
  const int file = open("/proc/self/clear_refs", O_WRONLY);
  if (file < 0 || write(file, "5", 1) != 1) {
    std::fputs("nntrainer_steps: VmHWM cannot be cleared\n", stderr);
  }
  if (file >= 0) close(file);
}

double ProcessorSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

// A batch of random images, which gives its rows in turn.
struct Batch {
  explicit Batch(int rows) : rows(rows) {
    std::mt19937 random(1);
    pixels.resize(static_cast<size_t>(rows) * kPixels);
    for (float& p : pixels)
      p = static_cast<float>(random() % 2000) / 1000.0f - 1.0f;
    for (int i = 0; i < rows; ++i) {
      classes.push_back(static_cast<int>(random() % kClasses));
    }
  }

  static int Give(float** input, float** label, bool* last, void* self) {
    Batch& batch = *static_cast<Batch*>(self);
    *last = batch.next == batch.rows;
    if (*last) {
      batch.next = 0;
      return 0;
    }
    std::memcpy(*input,
                &batch.pixels[static_cast<size_t>(batch.next) * kPixels],
                kPixels * sizeof(float));
    std::memset(*label, 0, kClasses * sizeof(float));
    (*label)[batch.classes[static_cast<size_t>(batch.next)]] = 1.0f;
    ++batch.next;
    return 0;
  }

  const int rows;
  int next = 0;
  std::vector<float> pixels;
  std::vector<int> classes;
};

// Answers lines between steps.
class Server {
 public:
  Server(int steps, int64_t parameters, int64_t begin_bytes)
      : steps_(steps), parameters_(parameters), begin_bytes_(begin_bytes) {}

  // The model calls this after each epoch, which is one step.
  void AfterStep() {
    if (done_ == 0) {
      std::printf("ready NNTrainer with %lld weights\n",
                  static_cast<long long>(parameters_));
    } else if (done_ % steps_ == 0) {
      std::printf("%.9f\n", (ProcessorSeconds() - begin_) / steps_);
    }
    std::fflush(stdout);
    if (done_ % steps_ == 0) Await();
    ++done_;
  }
  bool is_over() const { return over_; }

 private:
  void Await() {
    std::string line;
    over_ = !std::getline(std::cin, line);
    if (over_) {
      std::printf("%lld\n", static_cast<long long>(
                                footprint::ReadResidentBytes().peak_bytes -
                                begin_bytes_));
      std::fflush(stdout);
    }
    begin_ = ProcessorSeconds();
  }

  const int steps_;
  const int64_t parameters_;
  const int64_t begin_bytes_;
  int64_t done_ = 0;
  double begin_ = 0;
  bool over_ = false;
};

// Counts the weights without the running statistics of normalizations.
int64_t CountParameters(ml::train::Model* model) {
  int64_t count = 0;
  model->forEachLayer([&count](ml::train::Layer& layer,
                               nntrainer::RunLayerContext&, void*) {
    std::vector<float*> weights;
    std::vector<ml::train::TensorDim> shapes;
    layer.getWeights(weights, shapes);
    for (size_t i = 0; i < shapes.size(); ++i) {
      const std::string name = layer.getWeightName(static_cast<unsigned>(i));
      if (name.find("moving_") != std::string::npos) continue;
      count += static_cast<int64_t>(shapes[i].getDataLen());
    }
  });
  return count;
}

int Run(const std::string& network, int rows, int steps,
        const std::string& optimizer, bool head_only) {
  std::cout.setstate(std::ios::badbit);  // NNTrainer reports its progress there
  ClearPeak();
  const int64_t begin_bytes = footprint::ReadResidentBytes().now_bytes;
  Batch batch(rows);
  const auto model = ml::train::createModel(
      ml::train::ModelType::NEURAL_NET,
      {"loss=cross", "batch_size=" + std::to_string(rows),
       "epochs=1000000000"});
  Chain chain(model.get(), head_only);
  if (network == "vgg16") {
    AddVgg16(&chain);
  } else if (network == "resnet18") {
    AddResNet18(&chain);
  } else {
    std::fprintf(stderr, "nntrainer_steps: no network is named %s\n",
                 network.c_str());
    return 3;
  }
  model->setOptimizer(ml::train::createOptimizer(
      optimizer,
      {optimizer == "adam" ? "learning_rate=0.001" : "learning_rate=0.01"}));
  if (model->compile() != 0 || model->initialize() != 0) {
    std::fputs("nntrainer_steps: the network cannot be compiled\n", stderr);
    return 1;
  }
  const std::shared_ptr<ml::train::Dataset> samples = ml::train::createDataset(
      ml::train::DatasetType::GENERATOR, Batch::Give, &batch);
  model->setDataset(ml::train::DatasetModeType::MODE_TRAIN, samples);
  Server server(steps, CountParameters(model.get()), begin_bytes);
  return model->train(
      {}, [](void* s) { return static_cast<Server*>(s)->is_over(); }, &server,
      [](void* s) { static_cast<Server*>(s)->AfterStep(); }, &server);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: nntrainer_steps NETWORK ROWS STEPS sgd|adam all|head\n",
               stderr);
    return 2;
  }
  try {
    return Run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), argv[4],
               std::strcmp(argv[5], "head") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nntrainer_steps: %s\n", error.what());
    return 1;
  }
}
