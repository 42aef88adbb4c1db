// Finds the default paths of the server's store and of its clients' token, and
// the absolute paths of programs that flags name; makes folders and secret
// files.
//
//   absl::StatusOr<std::string> store = StoreFolder();
//                                           // ~/.local/share/footprint
//   absl::StatusOr<std::string> path = ClientTokenPath();
//                                           // ~/.config/footprint/token
//   absl::Status status = WriteSecretFile(*path, token);
//
// XDG_DATA_HOME and XDG_CONFIG_HOME change the defaults. Without them and
// without HOME there is no default, and the error says what to set.
// Thread-safe, if no thread changes the environment. Memory: the texts.

#ifndef FOOTPRINT_GATES_PROGRAMS_SERVER_FOLDERS_H_
#define FOOTPRINT_GATES_PROGRAMS_SERVER_FOLDERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

// These return FailedPrecondition if no variable names the home.
absl::StatusOr<std::string> StoreFolder();
absl::StatusOr<std::string> ClientTokenPath();

// Returns the absolute path of a program. A relative `path` counts from the
// caller's folder, and an empty one stays empty. Returns InvalidArgument, with
// the name `flag`, if the path is not an executable file.
absl::StatusOr<std::string> ProgramPath(absl::string_view flag,
                                        const std::string& path);

// Makes the folder and its parents, readable only by their owner. Those that
// exist stay as they are. Errors: FileError's.
absl::Status MakeFolders(const std::string& folder);

// Writes or replaces a file that only its owner can read. Makes its folder with
// MakeFolders. Errors: those of FileError and ReplaceFile.
absl::Status WriteSecretFile(const std::string& path, absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_SERVER_FOLDERS_H_
