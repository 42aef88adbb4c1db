#include "footprint/gates/images/root_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/bundles/tar_writer.h"

namespace footprint {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::string NameIn(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

absl::Status LiesBehind(absl::string_view path, absl::string_view part,
                        const char* what) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", EscapeForTerminal(path), "' lies behind '",
                   EscapeForTerminal(part), "', which is ", what,
                   " and not a folder; name the file by its real path"));
}

// Returns the error for a part of a path that is no folder.
absl::Status NoFolder(int parent, const std::string& name,
                      absl::string_view path, absl::string_view part) {
  struct stat about = {};
  const bool is_link =
      fstatat(parent, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISLNK(about.st_mode);
  return LiesBehind(path, part, is_link ? "a link" : "a file");
}

bool IsNothingThere(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsInvalidArgument(status);
}

// Returns the names in a folder.
absl::StatusOr<std::vector<std::string>> NamesIn(int folder,
                                                 absl::string_view path) {
  // A descriptor of its own, since its position moves.
  const int copy = openat(folder, ".", kFolderFlags);
  DIR* const stream = copy < 0 ? nullptr : fdopendir(copy);
  if (stream == nullptr) {
    const int error = errno;
    if (copy >= 0) close(copy);
    return OfHost(FileError(error, path, "cannot be read"));
  }
  std::vector<std::string> names;
  while (const dirent* each = readdir(stream)) {
    const std::string name = each->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(stream);
  return names;
}

}  // namespace

absl::StatusOr<RootFolder> RootFolder::Make(const std::string& path,
                                            uid_t owner) {
  RootFolder root;
  root.path_ = path;
  root.owner_ = owner;
  if (mkdir(path.c_str(), 0755) != 0) {
    return root.HostError(errno, "", "cannot be made");
  }
  root.root_ = FileDescriptor(open(path.c_str(), kFolderFlags));
  if (!root.root_.is_open() || fchmod(root.root_.get(), 0755) != 0) {
    return root.HostError(errno, "", "cannot be opened");
  }
  const absl::Status status = root.SetOwner(root.root_.get(), ".", "");
  if (!status.ok()) return status;
  return root;
}

// An error of the system is never the image's fault, whose paths are checked.
absl::Status RootFolder::HostError(int error, absl::string_view path,
                                   absl::string_view what) const {
  const absl::Status status = OfHost(FileError(
      error, absl::StrCat(path_, "/", EscapeForTerminal(path)), what));
  return absl::IsInvalidArgument(status)
             ? absl::UnavailableError(status.message())
             : status;
}

absl::Status RootFolder::SetOwner(int parent, const std::string& name,
                                  absl::string_view path) const {
  if (geteuid() != 0 || fchownat(parent, name.c_str(), owner_, owner_,
                                 AT_SYMLINK_NOFOLLOW) == 0) {
    return absl::OkStatus();
  }
  return HostError(errno, path, "its owner cannot be set");
}

absl::Status RootFolder::MakeFolderIn(int parent, const std::string& name,
                                      absl::string_view path) {
  if (mkdirat(parent, name.c_str(), 0755) != 0 ||
      fchmodat(parent, name.c_str(), 0755, 0) != 0) {
    return HostError(errno, path, "cannot be made");
  }
  ++made_count_;
  return SetOwner(parent, name, path);
}

absl::StatusOr<int> RootFolder::OpenParent(const std::string& path,
                                           bool is_made) {
  const std::string parent_path = ParentOf(path);
  if (parent_path.empty()) return root_.get();
  if (parent_.is_open() && parent_path == parent_path_) return parent_.get();
  FileDescriptor folder(openat(root_.get(), ".", kFolderFlags));
  if (!folder.is_open()) return HostError(errno, path, "cannot be opened");
  size_t begin = 0;
  while (begin < parent_path.size()) {
    const size_t slash =
        std::min(parent_path.find('/', begin), parent_path.size());
    const std::string name = parent_path.substr(begin, slash - begin);
    const absl::string_view part =
        absl::string_view(parent_path).substr(0, slash);
    int next = openat(folder.get(), name.c_str(), kFolderFlags);
    if (next < 0 && errno == ENOENT) {
      if (!is_made) return absl::NotFoundError(part);
      const absl::Status made = MakeFolderIn(folder.get(), name, part);
      if (!made.ok()) return made;
      next = openat(folder.get(), name.c_str(), kFolderFlags);
    }
    if (next < 0 && (errno == ENOTDIR || errno == ELOOP)) {
      return NoFolder(folder.get(), name, path, part);
    }
    if (next < 0) return HostError(errno, part, "cannot be opened");
    folder = FileDescriptor(next);
    begin = slash + 1;
  }
  parent_ = std::move(folder);
  parent_path_ = parent_path;
  return parent_.get();
}

absl::Status RootFolder::MakeFolder(const std::string& path) {
  const absl::StatusOr<int> parent = OpenParent(path, /*is_made=*/true);
  if (!parent.ok()) return parent.status();
  const std::string name = NameIn(path);
  struct stat about = {};
  if (fstatat(*parent, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISDIR(about.st_mode)) {
    const absl::Status removed = RemoveIn(*parent, name, path);
    if (!removed.ok()) return removed;
  }
  return EnsureFolder(path);
}

absl::Status RootFolder::EnsureFolder(const std::string& path) {
  const absl::StatusOr<int> parent = OpenParent(path, /*is_made=*/true);
  if (!parent.ok()) return parent.status();
  const std::string name = NameIn(path);
  struct stat about = {};
  if (fstatat(*parent, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? MakeFolderIn(*parent, name, path)
                           : HostError(errno, path, "cannot be read");
  }
  if (S_ISDIR(about.st_mode)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", EscapeForTerminal(path), "' of the image is a ",
                   S_ISLNK(about.st_mode) ? "link" : "file",
                   "; it must be a folder, or be missing"));
}

absl::StatusOr<FileDescriptor> RootFolder::MakeFile(const std::string& path,
                                                    bool is_executable) {
  const absl::StatusOr<int> parent = OpenParent(path, /*is_made=*/true);
  if (!parent.ok()) return parent.status();
  const std::string name = NameIn(path);
  absl::Status status = RemoveIn(*parent, name, path);
  if (!status.ok()) return status;
  const mode_t mode = is_executable ? 0755 : 0644;
  FileDescriptor file(
      openat(*parent, name.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file.is_open() || fchmod(file.get(), mode) != 0) {
    return HostError(errno, path, "cannot be made");
  }
  ++made_count_;
  status = SetOwner(*parent, name, path);
  if (!status.ok()) return status;
  return file;
}

absl::Status RootFolder::MakeSymbolicLink(const std::string& path,
                                          const std::string& target) {
  const absl::StatusOr<int> parent = OpenParent(path, /*is_made=*/true);
  if (!parent.ok()) return parent.status();
  const std::string name = NameIn(path);
  const absl::Status status = RemoveIn(*parent, name, path);
  if (!status.ok()) return status;
  if (symlinkat(target.c_str(), *parent, name.c_str()) != 0) {
    return HostError(errno, path, "the link cannot be made");
  }
  ++made_count_;
  return SetOwner(*parent, name, path);
}

absl::Status RootFolder::MakeHardLink(const std::string& path,
                                      const std::string& target) {
  const std::string shown =
      absl::StrCat("'", EscapeForTerminal(path), "' is a hard link to '",
                   EscapeForTerminal(target), "', ");
  absl::StatusOr<int> folder = OpenParent(target, /*is_made=*/false);
  struct stat about = {};
  if (absl::IsNotFound(folder.status()) ||
      (folder.ok() && fstatat(*folder, NameIn(target).c_str(), &about,
                              AT_SYMLINK_NOFOLLOW) != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, "which the image does not have before it"));
  }
  if (!folder.ok()) return folder.status();
  if (path == target || absl::StartsWith(target, absl::StrCat(path, "/")) ||
      (!S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode))) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, "which is no other file"));
  }
  // The parent of the path is opened below, in the place of this one.
  const FileDescriptor source(openat(*folder, ".", kFolderFlags));
  if (!source.is_open()) return HostError(errno, target, "cannot be opened");
  const absl::StatusOr<int> parent = OpenParent(path, /*is_made=*/true);
  if (!parent.ok()) return parent.status();
  const std::string name = NameIn(path);
  const absl::Status removed = RemoveIn(*parent, name, path);
  if (!removed.ok()) return removed;
  if (linkat(source.get(), NameIn(target).c_str(), *parent, name.c_str(), 0) ==
      0) {
    ++made_count_;
    return absl::OkStatus();
  }
  if (errno == EMLINK) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, "which has too many of them"));
  }
  return HostError(errno, path, "the link cannot be made");
}

absl::Status RootFolder::Remove(const std::string& path) {
  const absl::StatusOr<int> parent = OpenParent(path, /*is_made=*/false);
  if (IsNothingThere(parent.status())) return absl::OkStatus();
  return parent.ok() ? RemoveIn(*parent, NameIn(path), path) : parent.status();
}

absl::Status RootFolder::RemoveIn(int parent, const std::string& name,
                                  absl::string_view path) {
  if (unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) {
    return absl::OkStatus();
  }
  if (errno != EISDIR) return HostError(errno, path, "cannot be removed");
  // The parent that was opened last may lie in the folder.
  parent_path_.clear();
  const FileDescriptor folder(openat(parent, name.c_str(), kFolderFlags));
  if (!folder.is_open()) return HostError(errno, path, "cannot be opened");
  const absl::Status status = ClearIn(folder.get(), std::string(path),
                                      [](const std::string&) { return false; });
  if (!status.ok()) return status;
  if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0) {
    return HostError(errno, path, "cannot be removed");
  }
  return absl::OkStatus();
}

absl::Status RootFolder::Clear(
    const std::string& path,
    const std::function<bool(const std::string& path)>& is_kept) {
  const absl::StatusOr<int> parent = path.empty()
                                         ? absl::StatusOr<int>(root_.get())
                                         : OpenParent(path, /*is_made=*/false);
  if (IsNothingThere(parent.status())) return absl::OkStatus();
  if (!parent.ok()) return parent.status();
  const std::string name = path.empty() ? "." : NameIn(path);
  const FileDescriptor folder(openat(*parent, name.c_str(), kFolderFlags));
  if (folder.is_open()) return ClearIn(folder.get(), path, is_kept);
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) {
    return absl::OkStatus();
  }
  return HostError(errno, path, "cannot be opened");
}

absl::Status RootFolder::ClearIn(
    int folder, const std::string& path,
    const std::function<bool(const std::string& path)>& is_kept) {
  const absl::StatusOr<std::vector<std::string>> names =
      NamesIn(folder, absl::StrCat(path_, "/", EscapeForTerminal(path)));
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const std::string child =
        path.empty() ? name : absl::StrCat(path, "/", name);
    absl::Status status;
    if (!is_kept(child)) {
      status = RemoveIn(folder, name, child);
    } else {
      const FileDescriptor below(openat(folder, name.c_str(), kFolderFlags));
      if (below.is_open()) status = ClearIn(below.get(), child, is_kept);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace footprint
