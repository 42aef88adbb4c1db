// A program that computes: trains a network of two hidden layers of 50 units on
// random rows, in batches of 64. The cost of counting where memory is allocated
// as numeric code does it: see counting_cost.py.

#include <cstdio>
#include <cstdlib>

#include "Eigen/Dense"

namespace {

constexpr int kFeatures = 50;
constexpr int kUnits = 50;
constexpr int kRows = 64;
constexpr int kSteps = 6000;
constexpr float kRate = 1e-3f;

// Each step allocates its activations and gradients anew.
float Train() {
  using Eigen::MatrixXf;
  std::srand(1);  // Eigen's Random
  const MatrixXf rows = MatrixXf::Random(kFeatures, kRows);
  const MatrixXf wanted = rows.colwise().sum();
  MatrixXf first = MatrixXf::Random(kUnits, kFeatures) * 0.1f;
  MatrixXf second = MatrixXf::Random(kUnits, kUnits) * 0.1f;
  MatrixXf last = MatrixXf::Random(1, kUnits) * 0.1f;
  float loss = 0;
  for (int step = 0; step < kSteps; ++step) {
    const MatrixXf lower = (first * rows).cwiseMax(0.0f);
    const MatrixXf upper = (second * lower).cwiseMax(0.0f);
    const MatrixXf error = last * upper - wanted;
    loss = error.squaredNorm();
    const MatrixXf at_upper =
        (last.transpose() * error)
            .cwiseProduct((upper.array() > 0).cast<float>().matrix());
    const MatrixXf at_lower =
        (second.transpose() * at_upper)
            .cwiseProduct((lower.array() > 0).cast<float>().matrix());
    last -= kRate / kRows * error * upper.transpose();
    second -= kRate / kRows * at_upper * lower.transpose();
    first -= kRate / kRows * at_lower * rows.transpose();
  }
  return loss;
}

}  // namespace

int main() { std::printf("%g\n", static_cast<double>(Train())); }
