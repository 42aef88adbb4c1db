// The tabular experiment with a multiple linear regression. See --help.

#include "footprint/gates/deployments/tabular/experiment.h"
#include "footprint/gates/deployments/tabular/linear_regression.h"
#include "footprint/profiling/program_profile.h"

int main(int argc, char** argv) {
  footprint::ProgramProfile profile(&argc, argv);
  footprint::tabular::ParseExperimentFlags(
      argc, argv, "predicts a column of a table by linear regression.");
  return footprint::tabular::RunExperiment(
      footprint::tabular::LinearRegression(), &profile);
}
