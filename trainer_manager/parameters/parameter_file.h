// Saves and loads a model's weights and statistics as a safetensors file.
//
//   absl::Status status =
//       footprint::SaveParameters(*parameters, "model.safetensors");
//   status = footprint::LoadParameters("model.safetensors", parameters.get());
//
// The file holds each parameter by its name, in F32. Saving replaces the file
// as a whole or not at all: if it is interrupted or the disk is full, the old
// file stays. Loading is strict: file and model must have the same names and
// shapes, and all values must be finite. This is checked before the first value
// changes; then values are read straight into the model's memory. A file must
// not be written in place meanwhile; saving does not do that. Keeps nothing of
// its arguments and closes the file. Thread-compatible. Memory: 64 KiB and the
// file's header. Time: that of reading the file twice.

#ifndef FOOTPRINT_TRAINER_MANAGER_PARAMETERS_PARAMETER_FILE_H_
#define FOOTPRINT_TRAINER_MANAGER_PARAMETERS_PARAMETER_FILE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"
#include "footprint/trainer_manager/parameters/parameters.h"

namespace footprint {

// Writes all parameters. Returns InvalidArgument, with the parameter and the
// position, if a value is one that LoadParameters would refuse; the file at the
// path stays as it is. Other errors are those of AtomicFile
// (//base/files:atomic_file): ResourceExhausted if the disk is full, NotFound
// if there is no such folder, Unavailable if another process is saving to the
// path.
absl::Status SaveParameters(const Parameters& parameters,
                            absl::string_view path);

// Reads all parameters. Returns NotFound if there is no such file. Returns
// InvalidArgument if it is not a regular file (Load does not wait for a pipe),
// not a safetensors file, truncated, or of another model, where the message
// names the first parameter that differs; or if a value is NaN, infinite, or a
// running variance below 0, where the message names the tensor and the
// position. Returns PermissionDenied if it must not be read. Returns
// FailedPrecondition if it was written to, replaced or removed meanwhile.
// Returns Unavailable if the system refused a read. After the last two, some
// values may have changed.
absl::Status LoadParameters(absl::string_view path, Parameters* parameters);

// Does the same for a file of another program, or for a part of the model
// (ParameterMap::only). Returns InvalidArgument also if the map names something
// that is not a parameter of the model or transposes something that is not a
// matrix, or if the pattern matches no parameter.
absl::Status LoadParameters(absl::string_view path, const ParameterMap& map,
                            Parameters* parameters);

// Loads some of a model's parameters, from a file that holds these alone unless
// ParameterMap::only is set. Errors: those of the function above.
absl::Status LoadParameters(absl::string_view path, const ParameterMap& map,
                            absl::Span<const Parameters::Parameter> parameters);

// The file of a training (training_state.h) has this key in its metadata. It
// has a tensor for each state of the optimizer, named by the weight, this
// ending and a number. LoadParameters skips these tensors.
inline constexpr char kTrainingFileKey[] = "footprint.iteration";
inline constexpr char kStateEnding[] = ".optimizer";

// Returns InvalidArgument, with the path, the tensor and the position, if a
// value is one that LoadParameters would refuse.
absl::Status CheckLoadable(absl::string_view path,
                           const Parameters::Parameter& tensor);

// These save and load any float tensors, given by name, shape and memory.
// Loading changes none of them unless all of the file's tensors for them are
// valid. Errors: those of SaveParameters, and those of LoadParameters for an
// open file.
absl::Status SaveTensors(absl::Span<const Parameters::Parameter> tensors,
                         const std::map<std::string, std::string>& metadata,
                         absl::string_view path);
absl::Status LoadTensors(const SafetensorsFile& file, const ParameterMap& map,
                         absl::Span<const Parameters::Parameter> tensors);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PARAMETERS_PARAMETER_FILE_H_
