// The default paths of the server's store and of the tokens of its clients.
//
//   std::string store = StoreFolder();      // ~/.local/share/footprint
//   std::string path = ClientTokenPath();   // ~/.config/footprint/token
//   absl::Status status = WriteSecretFile(path, token);
//
// XDG_DATA_HOME and XDG_CONFIG_HOME change them. Thread-safe, if no thread
// changes the environment. Nothing is kept. Memory: the texts.

#ifndef FOOTPRINT_GATES_PROGRAMS_SERVER_FOLDERS_H_
#define FOOTPRINT_GATES_PROGRAMS_SERVER_FOLDERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

std::string StoreFolder();
std::string ClientTokenPath();

// With those above it, for nobody else to read. FileError's.
absl::Status MakeFolders(const std::string& folder);

// For nobody else to read, whatever was there. FileError's.
absl::Status WriteSecretFile(const std::string& path, absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_SERVER_FOLDERS_H_
