// The default paths of the server's store and of the tokens of its clients, and
// the programs that it is given.
//
//   absl::StatusOr<std::string> store = StoreFolder();
//                                           // ~/.local/share/footprint
//   absl::StatusOr<std::string> path = ClientTokenPath();
//                                           // ~/.config/footprint/token
//   absl::Status status = WriteSecretFile(*path, token);
//
// XDG_DATA_HOME and XDG_CONFIG_HOME change them; without those and without HOME
// there is no default, and the error says what to set. Thread-safe, if no
// thread changes the environment. Nothing is kept. Memory: the texts.

#ifndef FOOTPRINT_GATES_PROGRAMS_SERVER_FOLDERS_H_
#define FOOTPRINT_GATES_PROGRAMS_SERVER_FOLDERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

// FailedPrecondition: nothing says where the home is.
absl::StatusOr<std::string> StoreFolder();
absl::StatusOr<std::string> ClientTokenPath();

// The absolute path of a program that `flag` names, seen from the caller's
// folder; empty stays empty. InvalidArgument: no file there can be run.
absl::StatusOr<std::string> ProgramPath(absl::string_view flag,
                                        const std::string& path);

// Makes the folder and those above it, for nobody else to read. FileError's.
absl::Status MakeFolders(const std::string& folder);

// Writes the file for nobody else to read, whatever was there. FileError's.
absl::Status WriteSecretFile(const std::string& path, absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_SERVER_FOLDERS_H_
