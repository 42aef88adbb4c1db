// The experiment, the same for every estimator: read a table, fit, save the
// model, load it, predict, write the predictions; each stage a memory phase.
//
//   int main(int argc, char** argv) {
//     return footprint::tabular::RunExperiment(
//         argc, argv, "predicts ... by linear regression.",
//         [] { return std::make_unique<LinearRegression>(); });
//   }
//
// Data that a stage no longer needs are dropped before the next: the fitted
// model once it is saved; the table and the loaded model before the predictions
// are written. Memory: so at the peak the table, and the bytes that fit or
// inference adds to it.
//
// `make_estimator` is called once, and its estimator lives until RunExperiment
// returns. Thread-compatible; once a program.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_EXPERIMENT_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_EXPERIMENT_H_

#include <functional>
#include <memory>

#include "footprint/gates/deployments/tabular/estimators/estimator.h"

namespace footprint {
namespace tabular {

// Parses the command line, whose --help shows `purpose`, an example and the
// flags; makes the estimator, which may look at flags of its own; runs every
// stage; writes the profile, if one was asked for; and prints how well the
// predictions fit: R^2 of the rows that were learned from and, with
// --held_out_rows, of those that were not.
//
// Returns the program's exit status: 0, or 1 after a message on standard error
// that names the file and the way out; so too where predictions are far worse
// than the mean would be, and where memory does not suffice. Exits with 1 for a
// flag that is unknown or badly written.
int RunExperiment(
    int argc, char** argv, const char* purpose,
    const std::function<std::unique_ptr<Estimator>()>& make_estimator);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_EXPERIMENT_H_
