// The tabular experiment with a multiple linear regression. See --help.

#include <memory>

#include "footprint/gates/deployments/tabular/estimators/linear_regression.h"
#include "footprint/gates/deployments/tabular/experiment.h"

int main(int argc, char** argv) {
  return footprint::tabular::RunExperiment(
      argc, argv, "predicts a column of a table by linear regression.",
      [] { return std::make_unique<footprint::tabular::LinearRegression>(); });
}
