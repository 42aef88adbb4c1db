#include "footprint/gates/bundles/bundle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/octal_numbers.h"
#include "footprint/base/text/text_format_errors.h"
#include "footprint/gates/bundles/tar_reader.h"
#include "footprint/gates/bundles/tar_writer.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "google/protobuf/text_format.h"

namespace footprint {
namespace {

constexpr int64_t kMostManifestBytes = 64 << 10;
constexpr int kMostTimeLimitSeconds = 24 * 60 * 60;
constexpr size_t kMostEntryBytes = 4095;
constexpr char kAdvice[] = "; make the bundle anew from its folder";

absl::Status NoManifest(absl::string_view where) {
  return absl::InvalidArgumentError(
      absl::StrCat(where, " has no ", kManifestName,
                   " at its top; `submit --help` shows one"));
}

// Checks a name. Control characters are refused, since they could forge
// messages.
absl::Status CheckName(absl::string_view path, const BundleLimits& limits) {
  if (path.size() > static_cast<size_t>(limits.path_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the bundle holds a name of ", path.size(), " bytes; ",
                     limits.path_bytes, " is the most"));
  }
  for (const char each : path) {
    if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f) {
      return absl::InvalidArgumentError(
          "the bundle holds a name with a control character");
    }
  }
  if (path.empty() || path[0] == '/') {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", path, "': names of a bundle are relative and not empty"));
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  if (parts.size() > static_cast<size_t>(limits.path_depth)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", path, "': more than ", limits.path_depth, " folders deep"));
  }
  for (absl::string_view part : parts) {
    if (part.empty() || part == "." || part == "..") {
      return absl::InvalidArgumentError(
          absl::StrCat("'", path, "' is refused, since a part of the name is '",
                       part, "'; name a file inside of the bundle"));
    }
  }
  return absl::OkStatus();
}

class ManifestErrors : public TextFormatErrors {
 public:
  explicit ManifestErrors(absl::string_view name) : name_(name) {}
  void Add(int line, int column, const std::string& message) override {
    texts_.push_back(
        absl::StrCat(name_, ":", line + 1, ":", column + 1, ": ", message));
  }
  std::string Text() const { return absl::StrJoin(texts_, "\n"); }

 private:
  const absl::string_view name_;
  std::vector<std::string> texts_;
};

// Returns what is wrong with the limits and texts of a manifest, or "".
std::string FieldProblem(const BundleManifest& manifest) {
  if (manifest.schema_version() != 1) {
    return absl::StrCat("schema_version is ", manifest.schema_version(),
                        "; write schema_version: 1, or update Footprint");
  }
  if (manifest.budget_bytes() < 0) return "budget_bytes is below zero";
  if (manifest.time_limit_seconds() < 0 ||
      manifest.time_limit_seconds() > kMostTimeLimitSeconds) {
    return absl::StrCat("time_limit_seconds must be 0 to ",
                        kMostTimeLimitSeconds);
  }
  for (const std::string& argument : manifest.arguments()) {
    if (argument.find('\0') != std::string::npos) {
      return "an argument holds a zero byte";
    }
  }
  if (manifest.device().size() > 128 || manifest.label().size() > 256) {
    return "device has at most 128 bytes, label 256";
  }
  return "";
}

// Returns what is wrong with the manifest of a bundle, or "".
std::string BundleProblem(const BundleManifest& manifest) {
  const BundleLimits limits;
  if (!BundleManifest::Kind_IsValid(manifest.kind()) ||
      manifest.kind() == BundleManifest::KIND_UNSPECIFIED) {
    return "kind must be NATIVE_PROGRAM, PYTHON_SCRIPT or LOWMEM_CHECKPOINT";
  }
  if (manifest.entry().empty())
    return "entry is missing; name the program to run, such as entry: "
           "\"fit.py\"";
  std::vector<std::string> names(manifest.data().begin(),
                                 manifest.data().end());
  names.push_back(manifest.entry());
  for (const std::string& name : names) {
    const absl::Status status = CheckName(name, limits);
    if (!status.ok()) return std::string(status.message());
  }
  return "";
}

// Returns what is wrong with the manifest of an image, or "".
std::string ImageProblem(const BundleManifest& manifest) {
  switch (manifest.kind()) {
    case BundleManifest::KIND_UNSPECIFIED:
    case BundleManifest::NATIVE_PROGRAM:
      break;
    case BundleManifest::PYTHON_SCRIPT:
      if (!manifest.entry().empty()) break;
      return "entry is missing; name the script that the image's python3 runs";
    default:
      return "kind must be NATIVE_PROGRAM or PYTHON_SCRIPT in an image; send a "
             "checkpoint as a bundle";
  }
  if (manifest.data_size() > 0) {
    return "data is for bundles; remove it, since an image's files are in its "
           "layers";
  }
  if (manifest.entry().find('\0') != std::string::npos ||
      manifest.entry().size() > kMostEntryBytes) {
    return absl::StrCat("entry holds a zero byte or more than ",
                        kMostEntryBytes, " bytes");
  }
  return "";
}

absl::StatusOr<BundleManifest> ParseManifestText(
    absl::string_view text, absl::string_view name,
    std::string (*find_problem)(const BundleManifest& manifest)) {
  BundleManifest manifest;
  ManifestErrors errors(name);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  if (!parser.ParseFromString(std::string(text), &manifest)) {
    return absl::InvalidArgumentError(
        absl::StrCat(errors.Text(), "\n`submit --help` shows a manifest"));
  }
  const std::vector<OctalNumber> octal = FindOctalNumbers(text);
  if (!octal.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ":", octal[0].line + 1,
                                                   ":", octal[0].column + 1,
                                                   ": ", octal[0].message));
  }
  // A text that is not UTF-8 could be written, but not read again, in the
  // manifest and in a verdict that names it.
  if (!BundleManifest().ParseFromString(manifest.SerializeAsString())) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": a text of it is not UTF-8; save the file in UTF-8"));
  }
  std::string problem = FieldProblem(manifest);
  if (problem.empty()) problem = find_problem(manifest);
  if (!problem.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", problem));
  }
  return manifest;
}

// The names in an archive, so that none occurs twice, or as a file and a
// folder.
class Names {
 public:
  absl::Status AddFile(const std::string& path) {
    if (!files_.insert(path).second || folders_.count(path) > 0) {
      return Twice(path);
    }
    return AddParents(path);
  }

  absl::Status AddFolder(const std::string& path) {
    if (files_.count(path) > 0) return Twice(path);
    if (!stated_folders_.insert(path).second) return Twice(path);
    folders_.insert(path);
    return AddParents(path);
  }

  bool Has(const std::string& path) const {
    return files_.count(path) > 0 || folders_.count(path) > 0;
  }
  bool HasFile(const std::string& path) const { return files_.count(path) > 0; }
  // Each name is an inode in the unpacked bundle.
  size_t size() const { return files_.size() + folders_.size(); }

 private:
  static absl::Status Twice(absl::string_view path) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' is twice in the bundle", kAdvice));
  }

  absl::Status AddParents(absl::string_view path) {
    for (size_t slash = path.find('/'); slash != absl::string_view::npos;
         slash = path.find('/', slash + 1)) {
      const std::string parent(path.substr(0, slash));
      if (files_.count(parent) > 0) return Twice(parent);
      folders_.insert(parent);
    }
    return absl::OkStatus();
  }

  std::set<std::string> files_;
  std::set<std::string> folders_;
  std::set<std::string> stated_folders_;
};

absl::Status CheckNamedFiles(const BundleManifest& manifest,
                             const Names& names) {
  if (!names.HasFile(manifest.entry())) {
    return absl::InvalidArgumentError(
        absl::StrCat(kManifestName, ": entry '", manifest.entry(),
                     "' is not a file of the bundle"));
  }
  for (const std::string& each : manifest.data()) {
    if (names.Has(each)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        kManifestName, ": data '", each, "' is not in the bundle"));
  }
  return absl::OkStatus();
}

absl::Status TooManyEntries(const BundleLimits& limits) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the bundle has more than ", limits.entries,
                   " files and folders, the most that a bundle may have"));
}

absl::Status HostError(int error, const std::string& path,
                       absl::string_view what) {
  return OfHost(FileError(error, path, what));
}

// One pass over an archive: checks it, and writes it below `folder` unless that
// is empty.
class ArchivePass {
 public:
  ArchivePass(std::string folder, const BundleLimits& limits)
      : folder_(std::move(folder)),
        limits_(limits),
        reader_({"the bundle", kAdvice}, limits_, EndOfTime(limits_)) {}

  absl::StatusOr<BundleManifest> Read(const std::string& path) {
    absl::Status status = Open(path);
    if (!status.ok()) return status;
    TarEntry entry;
    absl::StatusOr<bool> has_entry = reader_.Next(&entry);
    for (; has_entry.ok() && *has_entry; has_entry = reader_.Next(&entry)) {
      status = Take(entry);
      if (!status.ok()) return status;
    }
    if (!has_entry.ok()) return has_entry.status();
    if (!has_manifest_) return NoManifest("the bundle");
    absl::StatusOr<BundleManifest> manifest = ParseManifest(manifest_text_);
    if (!manifest.ok()) return manifest;
    status = CheckNamedFiles(*manifest, names_);
    if (!status.ok()) return status;
    return manifest;
  }

 private:
  absl::Status Open(const std::string& path) {
    file_ =
        FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file_.is_open()) return FileError(errno, path, "cannot be opened");
    struct stat about = {};
    if (fstat(file_.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": not a regular file"));
    }
    return reader_.Open({file_.get(), 0, about.st_size});
  }

  // Checks one entry and, if it is a file, reads it.
  absl::Status Take(const TarEntry& entry) {
    absl::string_view path = entry.path;
    const bool is_folder = entry.kind == TarEntry::Kind::kFolder;
    while (absl::ConsumePrefix(&path, "./")) {
    }
    if (is_folder) absl::ConsumeSuffix(&path, "/");
    if (is_folder && (path.empty() || path == ".")) {
      return ++top_count_ == 1 ? absl::OkStatus()
                               : absl::InvalidArgumentError(absl::StrCat(
                                     "'.' is twice in the bundle", kAdvice));
    }
    absl::Status status = CheckName(path, limits_);
    if (!status.ok()) return status;
    if (!is_folder && entry.kind != TarEntry::Kind::kFile) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", path,
                       "' is not a file or folder: a bundle holds no links, "
                       "devices, pipes or sockets; an image may hold links"));
    }
    status = is_folder ? names_.AddFolder(std::string(path))
                       : names_.AddFile(std::string(path));
    if (!status.ok()) return status;
    if (names_.size() > static_cast<size_t>(limits_.entries)) {
      return TooManyEntries(limits_);
    }
    if (!is_folder) return TakeFile(std::string(path), entry);
    return folder_.empty() ? absl::OkStatus()
                           : MakeFolders(absl::StrCat(path, "/"));
  }

  // Makes the folders before the path's last slash.
  absl::Status MakeFolders(absl::string_view path) {
    for (size_t slash = path.find('/'); slash != absl::string_view::npos;
         slash = path.find('/', slash + 1)) {
      const std::string parent =
          absl::StrCat(folder_, "/", path.substr(0, slash));
      if (mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) {
        return HostError(errno, parent, "cannot be made");
      }
    }
    return absl::OkStatus();
  }

  // Reads a file, and writes it if this pass unpacks.
  absl::Status TakeFile(const std::string& path, const TarEntry& entry) {
    const bool is_manifest = path == kManifestName;
    if (is_manifest && entry.size_bytes > kMostManifestBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat(kManifestName, " has more than 64 KiB"));
    }
    has_manifest_ = has_manifest_ || is_manifest;
    FileDescriptor file;
    return reader_.ReadFile(
        entry,
        [&]() {
          return folder_.empty() ? absl::OkStatus()
                                 : MakeFile(path, entry.is_executable, &file);
        },
        [&](absl::string_view bytes) {
          if (is_manifest) manifest_text_.append(bytes.data(), bytes.size());
          if (!file.is_open() || WriteOn(file.get(), bytes.data(),
                                         static_cast<int64_t>(bytes.size()))) {
            return absl::OkStatus();
          }
          return HostError(errno, absl::StrCat(folder_, "/", path),
                           "cannot be written");
        });
  }

  // O_EXCL and O_NOFOLLOW make sure that the file is a new one.
  absl::Status MakeFile(const std::string& path, bool is_executable,
                        FileDescriptor* file) {
    const absl::Status status = MakeFolders(path);
    if (!status.ok()) return status;
    const std::string target = absl::StrCat(folder_, "/", path);
    const mode_t mode = is_executable ? 0755 : 0644;
    *file = FileDescriptor(
        open(target.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file->is_open()) return HostError(errno, target, "cannot be made");
    fchmod(file->get(), mode);
    return absl::OkStatus();
  }

  std::string folder_;
  BundleLimits limits_;
  FileDescriptor file_;
  TarReader reader_;
  Names names_;
  int64_t top_count_ = 0;
  bool has_manifest_ = false;
  std::string manifest_text_;
};

// The files of a folder to pack.
struct FolderFiles {
  std::vector<std::string> paths;  // relative, sorted
  int64_t all_bytes = 0;
  std::string largest;
  int64_t largest_bytes = 0;
};

absl::Status TooManyBytes(const std::string& folder, const FolderFiles& files,
                          const BundleLimits& limits) {
  return absl::ResourceExhaustedError(absl::StrCat(
      folder, ": its files have ", FormatBytes(files.all_bytes), ", of which ",
      files.largest, " has ", FormatBytes(files.largest_bytes),
      ", and a bundle may have ", FormatBytes(limits.unpacked_bytes),
      "; leave out what the program does not read, or raise --most_bundle of "
      "`serve` or `try`"));
}

// Returns all files below `folder`, or the error of the first limit that they
// exceed.
absl::StatusOr<FolderFiles> FilesBelow(const std::string& folder,
                                       const BundleLimits& limits) {
  FolderFiles files;
  std::error_code error;
  std::filesystem::recursive_directory_iterator each(folder, error);
  for (; !error && each != std::filesystem::recursive_directory_iterator();
       each.increment(error)) {
    const std::filesystem::file_status status = each->symlink_status(error);
    if (error) break;
    if (limits.is_stopped && limits.is_stopped()) {
      return absl::CancelledError("the packing was stopped");
    }
    if (std::filesystem::is_directory(status)) continue;
    std::string path =
        each->path().lexically_relative(std::filesystem::path(folder)).string();
    if (!std::filesystem::is_regular_file(status)) {
      return absl::InvalidArgumentError(
          absl::StrCat(folder, "/", path,
                       ": a bundle holds files and folders only; copy "
                       "what a link leads to"));
    }
    const auto bytes = static_cast<int64_t>(each->file_size(error));
    if (error) break;
    files.all_bytes += bytes;
    if (bytes > files.largest_bytes) {
      files.largest = path;
      files.largest_bytes = bytes;
    }
    files.paths.push_back(std::move(path));
    if (files.paths.size() > static_cast<size_t>(limits.entries)) {
      return TooManyEntries(limits);
    }
  }
  if (error) return FileError(error.value(), folder, "cannot be read");
  if (files.all_bytes > limits.unpacked_bytes) {
    return TooManyBytes(folder, files, limits);
  }
  std::sort(files.paths.begin(), files.paths.end());
  return files;
}

// Appends one file to an archive.
absl::Status AppendFile(const std::string& folder, const std::string& path,
                        TarWriter* writer) {
  const std::string source = absl::StrCat(folder, "/", path);
  const FileDescriptor file(
      open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat about = {};
  if (!file.is_open() || fstat(file.get(), &about) != 0) {
    return FileError(errno, source, "cannot be read");
  }
  return writer->AddFile(path, (about.st_mode & 0111) != 0,
                         {file.get(), 0, about.st_size}, source);
}

absl::Status CheckFolder(const std::string& folder,
                         const std::vector<std::string>& files,
                         const BundleLimits& limits) {
  const absl::StatusOr<std::string> text = ReadWholeFile(
      absl::StrCat(folder, "/", kManifestName), kMostManifestBytes);
  if (absl::IsNotFound(text.status())) return NoManifest(folder);
  if (!text.ok()) return text.status();
  const absl::StatusOr<BundleManifest> manifest = ParseManifest(*text);
  if (!manifest.ok()) return manifest.status();
  Names names;
  for (const std::string& path : files) {
    absl::Status status = CheckName(path, limits);
    if (status.ok()) status = names.AddFile(path);
    if (!status.ok()) return status;
    if (names.size() > static_cast<size_t>(limits.entries)) {
      return TooManyEntries(limits);
    }
  }
  return CheckNamedFiles(*manifest, names);
}

}  // namespace

absl::StatusOr<BundleManifest> ParseManifest(absl::string_view text) {
  return ParseManifestText(text, kManifestName, BundleProblem);
}

absl::StatusOr<BundleManifest> ParseImageManifest(absl::string_view text,
                                                  absl::string_view name) {
  return ParseManifestText(text, name, ImageProblem);
}

absl::Status MakeBundle(const std::string& folder, const std::string& path,
                        const PackingOptions& options) {
  const absl::StatusOr<FolderFiles> files = FilesBelow(folder, options.limits);
  if (!files.ok()) return files.status();
  absl::Status status = CheckFolder(folder, files->paths, options.limits);
  if (!status.ok()) return status;
  const absl::StatusOr<std::unique_ptr<TarWriter>> writer =
      TarWriter::Create(path, TarWriter::Filter::kZstd);
  if (!writer.ok()) return writer.status();
  (*writer)->Watch([&](int64_t file_bytes, int64_t archive_bytes) {
    return NotePackedBytes(options, file_bytes, files->all_bytes,
                           archive_bytes);
  });
  for (const std::string& each : files->paths) {
    status = AppendFile(folder, each, writer->get());
    if (!status.ok()) return status;
  }
  return (*writer)->Commit();
}

absl::StatusOr<BundleManifest> ReadBundle(const std::string& path,
                                          const BundleLimits& limits) {
  return ArchivePass("", limits).Read(path);
}

absl::StatusOr<BundleManifest> UnpackBundle(const std::string& path,
                                            const std::string& folder,
                                            const BundleLimits& limits) {
  if (mkdir(folder.c_str(), 0755) != 0) {
    return HostError(errno, folder, "cannot be made");
  }
  absl::StatusOr<BundleManifest> manifest =
      ArchivePass(folder, limits).Read(path);
  if (!manifest.ok()) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  return manifest;
}

}  // namespace footprint
