// The example of README.md: learns digits of 8 x 8 pixels, then a new head on
// the frozen convolutions. make_digits.py makes the file of digits.
//
//   digits_example DIGITS [SEED]
//
// The best weights and the training states are files in the working folder.
// When called again, the program continues where it stopped.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/rate_schedule.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/training/data_set.h"
#include "footprint/trainer_manager/training/train.h"

namespace footprint {
namespace {

// region digits
Network DigitClassifier() {
  Network network;
  network.AddInput("images", {{32, 1, 8, 8}});
  network.AddLayer("conv1", Convolution2d({16, 3, 1, 1}), {"images"});
  network.AddLayer("relu1", Relu(), {"conv1"});
  network.AddLayer("pool1", MaxPool2d(2), {"relu1"});
  network.AddLayer("conv2", Convolution2d({32, 3, 1, 1}), {"pool1"});
  network.AddLayer("relu2", Relu(), {"conv2"});
  network.AddLayer("pool2", MaxPool2d(2), {"relu2"});
  network.AddLayer("flat", Flatten(), {"pool2"});
  network.AddLayer("head", FullyConnected(10), {"flat"});
  // The label -1 fills the last batch of an epoch.
  network.AddLayer("loss", SoftmaxCrossEntropy({0, -1}), {"head"});
  return network;
}

// A digit of the file is 64 pixels from 0 to 16, then its label.
absl::StatusOr<TrainResult> LearnDigits(const std::string& digits,
                                        TrainOptions options) {
  const auto rows = [&digits](int64_t first, int64_t count) {
    return DataSet::ReadBy(count, [&digits, first](int64_t row, auto parts) {
      const char* digit = &digits[static_cast<size_t>(first + row) * 65];
      for (size_t p = 0; p < 64; ++p) parts[0].Floats()[p] = digit[p] / 16.0f;
      parts[1].Indices()[0] = digit[64];
      return absl::OkStatus();
    });
  };
  const int64_t count = static_cast<int64_t>(digits.size()) / 65;
  const int64_t trained = count * 4 / 5;
  options.manager.optimizer =
      AdamW(AfterWarmUp(50, CosineRate(3e-3f, 1e-5f, 1300)));
  options.epochs = 30;
  options.validation = rows(trained, count - trained);
  options.patience = 8;
  options.best_path = "digits_best.safetensors";
  options.state_path = "digits.safetensors";  // to go on from
  Network network = DigitClassifier();
  const auto whole = Train(network, rows(0, trained), options);
  if (!whole.ok()) return whole;
  std::cout << "accuracy " << *whole->validation->accuracy << "\n";
  network.Freeze("conv*");  // and a head that begins with zeros
  const auto head = whole->parameters->Find("head.weight");
  for (float& value : *head) value = 0;
  options.parameters = whole->parameters;
  options.best_path = "head_best.safetensors";
  options.state_path = "head.safetensors";
  return Train(network, rows(0, trained), options);
}
// endregion

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: digits_example DIGITS [SEED]\n";
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string digits(std::istreambuf_iterator<char>(file), {});
  if (digits.size() < 65 * 10 || digits.size() % 65 != 0) {
    std::cerr << argv[1] << ": is not a file of make_digits.py\n";
    return 1;
  }
  footprint::TrainOptions options;
  options.progress = &std::cerr;
  if (argc == 3) options.manager.seed = std::strtoull(argv[2], nullptr, 10);
  const auto result = footprint::LearnDigits(digits, options);
  if (!result.ok()) {
    std::cerr << result.status() << "\n";
    return 1;
  }
  const double accuracy = *result->validation->accuracy;
  std::cout << "accuracy with a new head " << accuracy << "\n";
  return footprint::FinishStandardOutput("digits_example",
                                         accuracy > 0.9 ? 0 : 1);
}
