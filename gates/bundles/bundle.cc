#include "footprint/gates/bundles/bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
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
#include "footprint/base/files/atomic_file.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/octal_numbers.h"
#include "footprint/base/text/text_format_errors.h"
#include "google/protobuf/text_format.h"

namespace footprint {
namespace {

constexpr int64_t kMostManifestBytes = 64 << 10;
constexpr size_t kBlockBytes = 64 << 10;
constexpr int64_t kFreeExpansionBytes = 1 << 20;
constexpr int64_t kTarBlockBytes = 512;
// The most zeros after the last entry: tar pads its last record.
constexpr int64_t kMostPaddingBytes = 1 << 20;
constexpr int kMostTimeLimitSeconds = 24 * 60 * 60;
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
  void Add(int line, int column, const std::string& message) override {
    texts_.push_back(absl::StrCat(kManifestName, ":", line + 1, ":", column + 1,
                                  ": ", message));
  }
  std::string Text() const { return absl::StrJoin(texts_, "\n"); }

 private:
  std::vector<std::string> texts_;
};

// Returns what is wrong with the manifest, or "".
std::string ManifestProblem(const BundleManifest& manifest) {
  const BundleLimits limits;
  if (manifest.schema_version() != 1) {
    return absl::StrCat("schema_version is ", manifest.schema_version(),
                        "; write schema_version: 1, or update Footprint");
  }
  if (!BundleManifest::Kind_IsValid(manifest.kind()) ||
      manifest.kind() == BundleManifest::KIND_UNSPECIFIED) {
    return "kind must be NATIVE_PROGRAM, PYTHON_SCRIPT or LOWMEM_CHECKPOINT";
  }
  if (manifest.entry().empty())
    return "entry is missing; name the program to run, such as entry: "
           "\"fit.py\"";
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
  std::vector<std::string> names(manifest.data().begin(),
                                 manifest.data().end());
  names.push_back(manifest.entry());
  for (const std::string& name : names) {
    const absl::Status status = CheckName(name, limits);
    if (!status.ok()) return std::string(status.message());
  }
  return "";
}

struct FreeReader {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

std::string DescribeError(archive* reader) {
  const char* const text = archive_error_string(reader);
  return text == nullptr ? "damaged" : text;
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

// Converts kResourceExhausted to kAborted: a full disk of this host is not a
// limit that the bundle exceeds.
absl::Status OfHost(const absl::Status& status) {
  return absl::IsResourceExhausted(status)
             ? absl::AbortedError(status.message())
             : status;
}

absl::Status HostError(int error, const std::string& path,
                       absl::string_view what) {
  return OfHost(FileError(error, path, what));
}

// Reads the unpacked bytes of an archive file, and counts them.
class UnpackedBytes {
 public:
  explicit UnpackedBytes(const BundleLimits& limits)
      : limits_(limits),
        end_(std::chrono::steady_clock::now() +
             std::chrono::seconds(limits.seconds)),
        block_(kBlockBytes) {}

  absl::Status Open(const std::string& path) {
    file_ =
        FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file_.is_open()) return FileError(errno, path, "cannot be opened");
    struct stat about = {};
    if (fstat(file_.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": not a regular file"));
    }
    archive_bytes_ = about.st_size;
    if (archive_bytes_ > limits_.archive_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the bundle has ", archive_bytes_, " bytes; ",
                       limits_.archive_bytes, " is the most"));
    }
    reader_.reset(archive_read_new());
    if (reader_ == nullptr) return absl::UnavailableError("no memory");
    archive_read_support_filter_none(reader_.get());
    archive_read_support_filter_gzip(reader_.get());
    archive_read_support_filter_zstd(reader_.get());
    archive_read_support_format_raw(reader_.get());
    archive_entry* entry = nullptr;
    if (archive_read_open_fd(reader_.get(), file_.get(), kBlockBytes) !=
            ARCHIVE_OK ||
        archive_read_next_header(reader_.get(), &entry) != ARCHIVE_OK) {
      return Damaged();
    }
    return absl::OkStatus();
  }

  // Sets `bytes` to the next bytes, valid until the next call. Returns their
  // number, or 0 at the end. After an error, status() has it.
  la_ssize_t Next(const void** bytes) {
    *bytes = block_.data();
    status_ = CheckTime();
    if (!status_.ok()) return -1;
    const la_ssize_t got =
        archive_read_data(reader_.get(), block_.data(), block_.size());
    if (got < 0) status_ = Damaged();
    if (got <= 0) return got;
    const auto end = block_.begin() + got;
    const auto last =
        std::find_if(std::make_reverse_iterator(end), block_.rend(),
                     [](char each) { return each != 0; });
    if (last != block_.rend()) nonzero_end_ = size_ + (block_.rend() - last);
    size_ += got;
    return got;
  }

  // Reads the rest. The archive is complete if only zeros follow its last
  // entry, at least the two blocks of its end mark.
  absl::Status Finish(int64_t entries_end) {
    const void* ignored = nullptr;
    while (nonzero_end_ <= entries_end &&
           size_ <= entries_end + kMostPaddingBytes) {
      const la_ssize_t got = Next(&ignored);
      if (got < 0) return status_;
      if (got == 0) break;
    }
    if (nonzero_end_ > entries_end || size_ > entries_end + kMostPaddingBytes ||
        archive_filter_bytes(reader_.get(), -1) < archive_bytes_) {
      return absl::InvalidArgumentError(
          absl::StrCat("the bundle has bytes behind its end", kAdvice));
    }
    if (size_ < entries_end + 2 * kTarBlockBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("the bundle ends early: it has no end mark", kAdvice));
    }
    return absl::OkStatus();
  }

  absl::Status CheckTime() const {
    if (limits_.is_stopped && limits_.is_stopped()) {
      return absl::CancelledError("the unpacking was stopped");
    }
    if (std::chrono::steady_clock::now() <= end_) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat(
        "the bundle does not unpack in ", limits_.seconds, " s, the most"));
  }

  int64_t archive_bytes() const { return archive_bytes_; }
  const absl::Status& status() const { return status_; }

 private:
  absl::Status Damaged() const {
    return absl::InvalidArgumentError(absl::StrCat(
        "the bundle cannot be read: ", DescribeError(reader_.get()), kAdvice));
  }

  const BundleLimits& limits_;
  const std::chrono::steady_clock::time_point end_;
  std::vector<char> block_;
  FileDescriptor file_;
  std::unique_ptr<archive, FreeReader> reader_;
  int64_t archive_bytes_ = 0;
  // The number of bytes so far, and the number up to the last byte that is not
  // zero.
  int64_t size_ = 0;
  int64_t nonzero_end_ = 0;
  absl::Status status_;
};

la_ssize_t ReadUnpacked(archive* /*reader*/, void* client, const void** bytes) {
  return static_cast<UnpackedBytes*>(client)->Next(bytes);
}

// One pass over an archive: checks it, and writes it below `folder` unless that
// is empty.
class ArchivePass {
 public:
  ArchivePass(std::string folder, const BundleLimits& limits)
      : folder_(std::move(folder)),
        limits_(limits),
        block_(kBlockBytes),
        bytes_(limits_) {}

  absl::StatusOr<BundleManifest> Read(const std::string& path) {
    absl::Status status = Open(path);
    if (!status.ok()) return status;
    status = TakeEntries();
    if (!status.ok()) return status;
    if (!has_manifest_) return NoManifest("the bundle");
    absl::StatusOr<BundleManifest> manifest = ParseManifest(manifest_text_);
    if (!manifest.ok()) return manifest;
    status = CheckNamedFiles(*manifest, names_);
    if (!status.ok()) return status;
    return manifest;
  }

 private:
  // Returns the error for a damaged entry, or that of the compressed bytes or
  // the time limit if there is one.
  absl::Status Damaged(absl::string_view path) const {
    if (!bytes_.status().ok()) return bytes_.status();
    return absl::InvalidArgumentError(absl::StrCat(
        "the bundle cannot be read", path.empty() ? "" : " at '", path,
        path.empty() ? "" : "'", ": ", DescribeError(reader_.get()), kAdvice));
  }

  absl::Status Open(const std::string& path) {
    const absl::Status opened = bytes_.Open(path);
    if (!opened.ok()) return opened;
    reader_.reset(archive_read_new());
    if (reader_ == nullptr) return absl::UnavailableError("no memory");
    archive_read_support_filter_none(reader_.get());
    archive_read_support_format_tar(reader_.get());
    if (archive_read_open(reader_.get(), &bytes_, nullptr, ReadUnpacked,
                          nullptr) != ARCHIVE_OK) {
      return Damaged("");
    }
    return absl::OkStatus();
  }

  absl::Status TakeEntries() {
    archive_entry* entry = nullptr;
    int64_t entries_end = 0;
    while (true) {
      const int code = archive_read_next_header(reader_.get(), &entry);
      if (code == ARCHIVE_EOF) return bytes_.Finish(entries_end);
      if (code != ARCHIVE_OK) return Damaged("");
      absl::Status status = bytes_.CheckTime();
      if (status.ok()) status = Take(entry);
      if (!status.ok()) return status;
      const int64_t at = archive_filter_bytes(reader_.get(), 0);
      entries_end = (at + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes;
    }
  }

  // Checks one entry and, if it is a file, reads it.
  absl::Status Take(archive_entry* entry) {
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr) name = archive_entry_pathname_utf8(entry);
    if (name == nullptr) {
      return absl::InvalidArgumentError("the bundle holds a name not in UTF-8");
    }
    absl::string_view path = name;
    const bool is_folder = archive_entry_filetype(entry) == AE_IFDIR;
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
    if (archive_entry_hardlink(entry) != nullptr ||
        archive_entry_symlink(entry) != nullptr ||
        (!is_folder && archive_entry_filetype(entry) != AE_IFREG)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", path,
                       "' is not a file or folder: a bundle holds no links, "
                       "devices, pipes or sockets"));
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

  // Counts and reads a file, and writes it if this pass unpacks. O_EXCL and
  // O_NOFOLLOW make sure that the file is a new one.
  absl::Status TakeFile(const std::string& path, archive_entry* entry) {
    const int64_t size_bytes = archive_entry_size(entry);
    if (!archive_entry_size_is_set(entry) || size_bytes < 0) {
      return Damaged(path);
    }
    absl::Status status = CountBytes(path, size_bytes);
    if (!status.ok()) return status;
    const bool is_manifest = path == kManifestName;
    if (is_manifest && size_bytes > kMostManifestBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat(kManifestName, " has more than 64 KiB"));
    }
    has_manifest_ = has_manifest_ || is_manifest;
    FileDescriptor file;
    const std::string target = absl::StrCat(folder_, "/", path);
    if (!folder_.empty()) {
      status = MakeFolders(path);
      if (!status.ok()) return status;
      const mode_t mode = (archive_entry_perm(entry) & 0111) != 0 ? 0755 : 0644;
      file = FileDescriptor(
          open(target.c_str(),
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
      if (!file.is_open()) return HostError(errno, target, "cannot be made");
      fchmod(file.get(), mode);
    }
    return Copy(path, size_bytes, is_manifest, file);
  }

  // Counts an entry's bytes before any of them is read, so a false size is
  // refused too.
  absl::Status CountBytes(absl::string_view path, int64_t size_bytes) {
    const int64_t archive_bytes = bytes_.archive_bytes();
    const int64_t most =
        std::min(limits_.unpacked_bytes,
                 kFreeExpansionBytes + archive_bytes * limits_.most_expansion);
    if (size_bytes <= most - unpacked_bytes_) {
      unpacked_bytes_ += size_bytes;
      return absl::OkStatus();
    }
    return absl::ResourceExhaustedError(absl::StrCat(
        "'", path, "': the bundle unpacks to more than ", most,
        " bytes, the most for an archive of ", archive_bytes, " bytes"));
  }

  absl::Status Copy(const std::string& path, int64_t size_bytes,
                    bool is_manifest, const FileDescriptor& file) {
    int64_t copied = 0;
    while (true) {
      const la_ssize_t got =
          archive_read_data(reader_.get(), block_.data(), block_.size());
      if (got < 0) return Damaged(path);
      if (got == 0) break;
      copied += got;
      if (copied > size_bytes) return Damaged(path);
      if (is_manifest) {
        manifest_text_.append(block_.data(), static_cast<size_t>(got));
      }
      if (file.is_open() && !WriteOn(file.get(), block_.data(), got)) {
        return HostError(errno, absl::StrCat(folder_, "/", path),
                         "cannot be written");
      }
    }
    return copied == size_bytes ? absl::OkStatus() : Damaged(path);
  }

  std::string folder_;
  BundleLimits limits_;
  std::vector<char> block_;
  UnpackedBytes bytes_;
  std::unique_ptr<archive, FreeReader> reader_;
  Names names_;
  int64_t unpacked_bytes_ = 0;
  int64_t top_count_ = 0;
  bool has_manifest_ = false;
  std::string manifest_text_;
};

// Returns the relative paths of all files below `folder`, sorted.
absl::StatusOr<std::vector<std::string>> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  std::filesystem::recursive_directory_iterator each(folder, error);
  for (; !error && each != std::filesystem::recursive_directory_iterator();
       each.increment(error)) {
    const std::filesystem::file_status status = each->symlink_status(error);
    if (error) break;
    if (std::filesystem::is_directory(status)) continue;
    std::string path =
        each->path().lexically_relative(std::filesystem::path(folder)).string();
    if (!std::filesystem::is_regular_file(status)) {
      return absl::InvalidArgumentError(
          absl::StrCat(folder, "/", path,
                       ": a bundle holds files and folders only; copy "
                       "what a link leads to"));
    }
    files.push_back(std::move(path));
  }
  if (error) return FileError(error.value(), folder, "cannot be read");
  std::sort(files.begin(), files.end());
  return files;
}

// Appends one file to an archive, in pieces.
absl::Status AppendFile(archive* writer, const std::string& folder,
                        const std::string& path) {
  const std::string source = absl::StrCat(folder, "/", path);
  const FileDescriptor file(
      open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat about = {};
  if (!file.is_open() || fstat(file.get(), &about) != 0) {
    return FileError(errno, source, "cannot be read");
  }
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), path.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(),
                         (about.st_mode & 0111) != 0 ? 0755 : 0644);
  archive_entry_set_size(entry.get(), about.st_size);
  archive_entry_set_mtime(entry.get(), 0, 0);
  if (archive_write_header(writer, entry.get()) != ARCHIVE_OK) {
    return absl::UnavailableError(
        absl::StrCat(source, ": ", DescribeError(writer)));
  }
  std::vector<char> block(kBlockBytes);
  int64_t left = about.st_size;
  while (left > 0) {
    const int64_t wanted = std::min<int64_t>(left, kBlockBytes);
    const int64_t got = ReadOn(file.get(), wanted, block.data());
    if (got != wanted) {
      return absl::UnavailableError(
          absl::StrCat(source, ": changed or cannot be read"));
    }
    if (archive_write_data(writer, block.data(), static_cast<size_t>(got)) !=
        got) {
      return absl::ResourceExhaustedError(
          absl::StrCat(source, ": ", DescribeError(writer)));
    }
    left -= got;
  }
  return absl::OkStatus();
}

// The file that libarchive writes to, and the status of the last write.
struct Output {
  AtomicFile file;
  absl::Status status;
};

la_ssize_t WriteToOutput(archive* writer, void* client, const void* bytes,
                         size_t size) {
  Output* const output = static_cast<Output*>(client);
  output->status = output->file.Append(
      absl::string_view(static_cast<const char*>(bytes), size));
  if (output->status.ok()) return static_cast<la_ssize_t>(size);
  archive_set_error(writer, EIO, "cannot be written");
  return -1;
}

absl::Status CheckFolder(const std::string& folder,
                         const std::vector<std::string>& files) {
  const absl::StatusOr<std::string> text = ReadWholeFile(
      absl::StrCat(folder, "/", kManifestName), kMostManifestBytes);
  if (absl::IsNotFound(text.status())) return NoManifest(folder);
  if (!text.ok()) return text.status();
  const absl::StatusOr<BundleManifest> manifest = ParseManifest(*text);
  if (!manifest.ok()) return manifest.status();
  Names names;
  const BundleLimits limits;
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

absl::Status WriteArchive(const std::string& folder,
                          const std::vector<std::string>& files,
                          Output* output) {
  const std::unique_ptr<archive, FreeWriter> writer(archive_write_new());
  if (writer == nullptr) return absl::ResourceExhaustedError("no memory");
  if (archive_write_set_format_pax_restricted(writer.get()) != ARCHIVE_OK ||
      archive_write_set_options(writer.get(), "hdrcharset=BINARY") !=
          ARCHIVE_OK ||
      archive_write_add_filter_zstd(writer.get()) != ARCHIVE_OK ||
      archive_write_set_bytes_in_last_block(writer.get(), 1) != ARCHIVE_OK ||
      archive_write_open(writer.get(), output, nullptr, WriteToOutput,
                         nullptr) != ARCHIVE_OK) {
    return absl::InternalError(
        absl::StrCat("libarchive: ", DescribeError(writer.get())));
  }
  for (const std::string& path : files) {
    absl::Status status = AppendFile(writer.get(), folder, path);
    if (!output->status.ok()) return output->status;
    if (!status.ok()) return status;
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK) {
    return output->status.ok()
               ? absl::InternalError(DescribeError(writer.get()))
               : output->status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BundleManifest> ParseManifest(absl::string_view text) {
  BundleManifest manifest;
  ManifestErrors errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  if (!parser.ParseFromString(std::string(text), &manifest)) {
    return absl::InvalidArgumentError(
        absl::StrCat(errors.Text(), "\n`submit --help` shows a manifest"));
  }
  const std::vector<OctalNumber> octal = FindOctalNumbers(text);
  if (!octal.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(kManifestName, ":", octal[0].line + 1, ":",
                     octal[0].column + 1, ": ", octal[0].message));
  }
  // A text that is not UTF-8 could be written, but not read again, in the
  // manifest and in a verdict that names it.
  if (!BundleManifest().ParseFromString(manifest.SerializeAsString())) {
    return absl::InvalidArgumentError(absl::StrCat(
        kManifestName, ": a text of it is not UTF-8; save the file in UTF-8"));
  }
  const std::string problem = ManifestProblem(manifest);
  if (!problem.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(kManifestName, ": ", problem));
  }
  return manifest;
}

absl::Status MakeBundle(const std::string& folder, const std::string& path) {
  const absl::StatusOr<std::vector<std::string>> files = FilesBelow(folder);
  if (!files.ok()) return files.status();
  absl::Status status = CheckFolder(folder, *files);
  if (!status.ok()) return status;
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return OfHost(file.status());
  Output output = {*std::move(file), absl::OkStatus()};
  status = WriteArchive(folder, *files, &output);
  return OfHost(status.ok() ? output.file.Commit() : status);
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
