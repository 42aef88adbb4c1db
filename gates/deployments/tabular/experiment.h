// Runs the experiment, which is the same for every estimator: read a table,
// fit, save the model, load it, predict, write the predictions. Each stage is a
// memory phase.
//
//   int main(int argc, char** argv) {
//     return footprint::tabular::RunExperiment(
//         argc, argv, "predicts ... by linear regression.",
//         [] { return std::make_unique<LinearRegression>(); });
//   }
//
// Data are freed as soon as no later stage needs them: the fitted model once it
// is saved; the table and the loaded model before the predictions are written.
// Memory: the peak is therefore the table and the bytes that fit or inference
// adds to it.
//
// `make_estimator` is called once, and its estimator lives until RunExperiment
// returns. Thread-compatible; a program calls it once.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_EXPERIMENT_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_EXPERIMENT_H_

#include <functional>
#include <memory>

#include "footprint/gates/deployments/tabular/estimators/estimator.h"

namespace footprint {
namespace tabular {

// Parses the command line, whose --help shows `purpose`, an example and the
// flags; makes the estimator, which may read its own flags; runs every stage;
// writes the profile, if a flag requests it; and prints how well the
// predictions fit: R^2 of the rows that it learned from and, with
// --held_out_rows, of the others.
//
// Returns the program's exit status: 0, or 1 after a message on standard error
// that names the file and what to do. It is also 1 if the predictions are far
// worse than the mean would be, and if memory does not suffice. Exits with 1
// for an unknown or malformed flag.
int RunExperiment(
    int argc, char** argv, const char* purpose,
    const std::function<std::unique_ptr<Estimator>()>& make_estimator);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_EXPERIMENT_H_
