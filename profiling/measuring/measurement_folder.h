// The folder in which a measured program runs: a new one of a fixed length in
// /tmp, with the files that the program needs.
//
//   const MeasurementFolder folder;
//   if (folder.path().empty()) return;  // no room in /tmp
//   absl::Status status = LinkData(data, folder.path());
//
// A runner that is killed leaves its folder. RemoveAbandonedFolders() removes
// folders that no runner uses any more, and nothing else.
//
// Owns the folder and its lock; the destructor removes both. Thread-compatible.
// Memory: the path.

#ifndef FOOTPRINT_PROFILING_MEASURING_MEASUREMENT_FOLDER_H_
#define FOOTPRINT_PROFILING_MEASURING_MEASUREMENT_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

struct DataFile {
  std::string path;  // The path of the file or folder.
  std::string name;  // The relative name by which the program opens it.
};

// The name of the file that proves that a runner made the folder. It is locked
// as long as the folder is in use; the lock ends with the runner, however that
// ends.
inline constexpr char kFolderMarkerName[] = ".footprint_profile_runner";

class MeasurementFolder {
 public:
  MeasurementFolder();
  MeasurementFolder(const MeasurementFolder&) = delete;
  MeasurementFolder& operator=(const MeasurementFolder&) = delete;
  ~MeasurementFolder();
  // Returns the path; empty if the folder could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  FileDescriptor marker_;
};

// Removes the folders that runners of this user left when they were killed.
void RemoveAbandonedFolders();

// Links each file or folder into `folder` under its name. Returns kNotFound if
// one of them does not exist, kInvalidArgument if a link cannot be made. The
// names are not checked.
absl::Status LinkData(const std::vector<DataFile>& data,
                      const std::string& folder);

// Copies `executable` to NAME, and `runfiles` below NAME.runfiles, with links
// resolved: an interpreter would resolve them, and keep this machine's path on
// its heap. Returns kInvalidArgument if a file cannot be copied.
absl::Status CopyProgram(const std::string& executable, const std::string& name,
                         const std::vector<DataFile>& runfiles,
                         const std::string& folder);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_MEASUREMENT_FOLDER_H_
