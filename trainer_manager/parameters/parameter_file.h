// Weights and statistics of a model in a safetensors file.
//
//   absl::Status status =
//       footprint::SaveParameters(*parameters, "model.safetensors");
//   status = footprint::LoadParameters("model.safetensors", parameters.get());
//
// The file holds each parameter by its name, in F32. Saving replaces the file
// as a whole or not at all: interrupted, or on a full disk, the old one stays.
// Loading is strict: file and model have the same names and shapes, and all
// values are finite, which is checked before the first value changes; then
// values are read straight into the model's memory. A file must not be written
// in place meanwhile; saving does not. Parameters and map stay the caller's,
// and the file is closed at the end: nothing is kept. Thread-compatible.
// Memory: 64 KiB and the file's header. Time: that of reading the file twice.

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

// Errors as of AtomicFile (//base/files:atomic_file). ResourceExhausted: the
// disk is full. NotFound: no such folder. Unavailable: another process is
// saving there.
absl::Status SaveParameters(const Parameters& parameters,
                            absl::string_view path);

// NotFound: no such file. InvalidArgument: no regular file (a pipe is not
// waited for), not a safetensors file, cut short, or of another model; the text
// names the first parameter that differs; or a value is NaN, infinite, or a
// running variance below 0; the text names the tensor and the place.
// PermissionDenied: it must not be read. FailedPrecondition: it was written to
// meanwhile. Unavailable: the system refused to read. After the last two, some
// values may have changed.
absl::Status LoadParameters(absl::string_view path, Parameters* parameters);

// The same for a file of another program, or for a part of the model
// (ParameterMap::only). InvalidArgument also: the map names what is no
// parameter of the model, or transposes what is no matrix; the pattern matches
// no parameter.
absl::Status LoadParameters(absl::string_view path, const ParameterMap& map,
                            Parameters* parameters);

// A file of a training (training_state.h) has this key in its metadata, and a
// tensor for each state of the optimizer, whose name is that of the weight,
// this ending and a number. LoadParameters passes over these tensors.
inline constexpr char kTrainingFileKey[] = "footprint.iteration";
inline constexpr char kStateEnding[] = ".optimizer";

// The same for any tensors of float: their names, shapes and memory. Loading
// changes none of them unless all of the file's are good.
absl::Status SaveTensors(absl::Span<const Parameters::Parameter> tensors,
                         const std::map<std::string, std::string>& metadata,
                         absl::string_view path);
absl::Status LoadTensors(const SafetensorsFile& file, const ParameterMap& map,
                         absl::Span<const Parameters::Parameter> tensors);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PARAMETERS_PARAMETER_FILE_H_
