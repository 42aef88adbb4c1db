// Writes files below one folder and nowhere else, whatever their names and the
// links in the folder are.
//
//   absl::StatusOr<RootFolder> root = RootFolder::Make("/var/trials/17/image",
//                                                      /*owner=*/65534);
//   absl::StatusOr<FileDescriptor> file =
//       root->MakeFile("usr/bin/python3", /*is_executable=*/true);
//   absl::Status status = root->MakeSymbolicLink("usr/bin/python", "python3");
//
// Paths are relative, and have no empty part, no "." and no "..". The parts
// before the last one are opened one after the other, from the root on, and a
// link among them is refused, so no link is ever followed. Modes are 0755 or
// 0644, whatever umask says. A new file takes the place of everything that had
// its name.
//
// Nobody else may change the folder meanwhile. Movable; thread-compatible.
// Memory: a path and two descriptors. Errors: kInvalidArgument if a part of the
// path is a link or a file, or for a hard link that cannot be made; kAborted if
// this host has no room; FileError's kNotFound and kPermissionDenied;
// kUnavailable for every other error of the system.

#ifndef FOOTPRINT_GATES_IMAGES_ROOT_FOLDER_H_
#define FOOTPRINT_GATES_IMAGES_ROOT_FOLDER_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

class RootFolder {
 public:
  // Makes the folder, which must not exist. If this process is root's, all
  // files belong to `owner`; otherwise they belong to its own user.
  static absl::StatusOr<RootFolder> Make(const std::string& path, uid_t owner);

  // Makes a folder, or keeps the one that is there with its files. Folders in
  // which it lies are made, too, as by the other functions.
  absl::Status MakeFolder(const std::string& path);
  // Makes an empty file, open for writing.
  absl::StatusOr<FileDescriptor> MakeFile(const std::string& path,
                                          bool is_executable);
  // `target` may be any text of 1 to 4095 bytes without a zero byte; it is kept
  // as it is.
  absl::Status MakeSymbolicLink(const std::string& path,
                                const std::string& target);
  // Gives a file or symbolic link below the root a second name.
  absl::Status MakeHardLink(const std::string& path, const std::string& target);

  // Makes a folder unless it is there. Returns InvalidArgument if a file or a
  // link has its name.
  absl::Status EnsureFolder(const std::string& path);

  // Removes everything with this name, and all below it. Succeeds if there is
  // nothing. Nothing is behind a link or a file.
  absl::Status Remove(const std::string& path);
  // Removes all below `path` ("" is the root) for which `is_kept` returns
  // false. A folder that is removed goes with all that is in it. Succeeds if
  // there is no such folder, as for Remove.
  absl::Status Clear(
      const std::string& path,
      const std::function<bool(const std::string& path)>& is_kept);

  const std::string& path() const { return path_; }
  // Number of files, folders and links that were made, also of those that are
  // gone again.
  int64_t made_count() const { return made_count_; }

 private:
  RootFolder() = default;
  absl::Status HostError(int error, absl::string_view path,
                         absl::string_view what) const;
  // Opens the folder in which `path` lies. Returns NotFound if it is missing
  // and must not be made. The descriptor is valid until the next call.
  absl::StatusOr<int> OpenParent(const std::string& path, bool is_made);
  absl::Status MakeFolderIn(int parent, const std::string& name,
                            absl::string_view path);
  absl::Status SetOwner(int parent, const std::string& name,
                        absl::string_view path) const;
  absl::Status RemoveIn(int parent, const std::string& name,
                        absl::string_view path);
  absl::Status ClearIn(
      int folder, const std::string& path,
      const std::function<bool(const std::string& path)>& is_kept);

  std::string path_;
  uid_t owner_ = 0;
  FileDescriptor root_;
  // The folder that was opened last; many files lie in one folder.
  std::string parent_path_;
  FileDescriptor parent_;
  int64_t made_count_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMAGES_ROOT_FOLDER_H_
