// The experiment, the same for every estimator: read a table, fit, save the
// model, load it, predict, write the predictions; each stage a memory phase.
//
//   int main(int argc, char** argv) {
//     footprint::ProgramProfile profile(&argc, argv);
//     footprint::tabular::ParseExperimentFlags(argc, argv, "learns ...");
//     return footprint::tabular::RunExperiment(LinearRegression(), &profile);
//   }
//
// What a stage no longer needs is dropped before the next: the fitted model
// once it is saved; the table and the loaded model before the predictions are
// written. So the peak is the table, and what fit or inference adds to it.
//
// Thread-compatible; once a program.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_EXPERIMENT_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_EXPERIMENT_H_

#include "absl/strings/string_view.h"
#include "footprint/gates/deployments/tabular/estimator.h"
#include "footprint/profiling/program_profile.h"

namespace footprint {
namespace tabular {

// Parses the command line; --help shows `purpose`, an example, and the flags.
// Exits with 1 and a message for a flag that is unknown or badly written.
void ParseExperimentFlags(int argc, char** argv, absl::string_view purpose);

// Runs every stage as the flags say, writes the profile, and prints how well
// the predictions fit. Returns the program's exit status: 0, or 1 after a
// message on standard error that names the file and the way out.
int RunExperiment(const Estimator& estimator, ProgramProfile* profile);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_EXPERIMENT_H_
