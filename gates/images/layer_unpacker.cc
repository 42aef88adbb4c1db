#include "footprint/gates/images/layer_unpacker.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/bundles/tar_writer.h"

namespace footprint {
namespace {

constexpr char kAdvice[] = "; make the image anew";
constexpr char kWhiteout[] = ".wh.";
// Begins names that only the file system aufs uses, except kOpaque.
constexpr char kReserved[] = ".wh..wh.";
constexpr char kOpaque[] = ".wh..wh..opq";
// The most bytes of a file's name, and of a link's target, on Linux.
constexpr size_t kMostNameBytes = 255;
constexpr size_t kMostTargetBytes = 4095;
constexpr size_t kMostShownBytes = 200;

absl::string_view ParentOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return path.substr(0, slash == absl::string_view::npos ? 0 : slash);
}

bool MayLackDevices(absl::string_view path) {
  return absl::StartsWith(path, "dev/") || absl::StartsWith(path, "run/");
}

}  // namespace

LayerUnpacker::LayerUnpacker(std::string name, const BundleLimits& limits,
                             RootFolder* root)
    : name_(std::move(name)), limits_(limits), root_(*root) {}

absl::Status LayerUnpacker::Apply(const FilePart& part,
                                  const std::string& diff_id, SteadyTime end) {
  TarReader reader({name_, kAdvice}, limits_, end);
  reader.ComputeHash();
  absl::Status status = reader.Open(part);
  if (!status.ok()) return status;
  TarEntry entry;
  absl::StatusOr<bool> has_entry = reader.Next(&entry);
  for (; has_entry.ok() && *has_entry; has_entry = reader.Next(&entry)) {
    ++entry_count_;
    status = Take(entry, &reader);
    if (status.ok()) status = CheckEntries();
    if (!status.ok()) return status;
  }
  if (!has_entry.ok()) return has_entry.status();
  unpacked_bytes_ = reader.unpacked_bytes();
  const std::string found = reader.FinishHashHex();
  if (found == diff_id) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name_, " unpacks to bytes with the hash ", found,
                   ", and the image's config says ", diff_id, kAdvice));
}

absl::Status LayerUnpacker::Wrong(absl::string_view path,
                                  absl::string_view problem) const {
  return absl::InvalidArgumentError(absl::StrCat(
      name_, ": '", EscapeForTerminal(path.substr(0, kMostShownBytes)), "' ",
      problem, kAdvice));
}

// Returns the error of a path with the layer's name, unless it has that.
absl::Status LayerUnpacker::OfThis(const absl::Status& status) const {
  if (!absl::IsInvalidArgument(status) ||
      absl::StartsWith(status.message(), name_)) {
    return status;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name_, ": ", status.message()));
}

// Fails if there are too many entries. Folders that occur only in the names of
// others count, too.
absl::Status LayerUnpacker::CheckEntries() const {
  if (entry_count_ <= limits_.entries &&
      root_.made_count() <= limits_.entries) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("the image has more than ", limits_.entries,
                   " files, folders and links, the most that an image may "
                   "have"));
}

// Returns the path without its root and "." parts; "" is the root.
absl::StatusOr<std::string> LayerUnpacker::CleanPath(
    absl::string_view path) const {
  std::vector<absl::string_view> parts;
  for (absl::string_view part : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    if (part == ".") continue;
    if (part == "..") return Wrong(path, "has a part '..', which is refused");
    if (part.size() > kMostNameBytes) {
      return Wrong(path, absl::StrCat("has a part of more than ",
                                      kMostNameBytes, " bytes"));
    }
    parts.push_back(part);
  }
  if (parts.size() > static_cast<size_t>(limits_.path_depth)) {
    return Wrong(path, absl::StrCat("lies more than ", limits_.path_depth,
                                    " folders deep"));
  }
  std::string clean = absl::StrJoin(parts, "/");
  if (clean.size() > static_cast<size_t>(limits_.path_bytes)) {
    return Wrong(path,
                 absl::StrCat("has more than ", limits_.path_bytes, " bytes"));
  }
  return clean;
}

// Notes that this layer has the path, so that no whiteout of it removes it.
void LayerUnpacker::Keep(const std::string& path) {
  absl::string_view each = path;
  while (!each.empty() && kept_.insert(std::string(each)).second) {
    each = ParentOf(each);
  }
}

absl::Status LayerUnpacker::Take(const TarEntry& entry, TarReader* reader) {
  const absl::StatusOr<std::string> cleaned = CleanPath(entry.path);
  if (!cleaned.ok()) return cleaned.status();
  const std::string& path = *cleaned;
  if (path.empty()) {
    if (entry.kind == TarEntry::Kind::kFolder) return absl::OkStatus();
    return Wrong(entry.path, "is the image's root, and must be a folder");
  }
  const absl::string_view folder = ParentOf(path);
  if (absl::StartsWith(folder, kWhiteout) ||
      absl::StrContains(folder, absl::StrCat("/", kWhiteout))) {
    return Wrong(path, "lies below a name that begins with .wh.");
  }
  const absl::string_view name =
      absl::string_view(path).substr(folder.empty() ? 0 : folder.size() + 1);
  if (absl::StartsWith(name, kWhiteout)) {
    return TakeWhiteout(std::string(folder), name, entry);
  }
  absl::Status status;
  switch (entry.kind) {
    case TarEntry::Kind::kFile:
      status = TakeFile(path, entry, reader);
      break;
    case TarEntry::Kind::kFolder:
      status = root_.MakeFolder(path);
      break;
    case TarEntry::Kind::kSymbolicLink:
    case TarEntry::Kind::kHardLink:
      status = TakeLink(path, entry);
      break;
    case TarEntry::Kind::kOther:
      if (MayLackDevices(path)) return absl::OkStatus();
      return Wrong(path,
                   "is a device or pipe, which are left out in dev and run, "
                   "and refused elsewhere");
  }
  if (!status.ok()) return OfThis(status);
  Keep(path);
  return absl::OkStatus();
}

absl::Status LayerUnpacker::TakeFile(const std::string& path,
                                     const TarEntry& entry, TarReader* reader) {
  FileDescriptor file;
  const auto begin = [&]() -> absl::Status {
    absl::StatusOr<FileDescriptor> made =
        root_.MakeFile(path, entry.is_executable);
    if (!made.ok()) return made.status();
    file = *std::move(made);
    return absl::OkStatus();
  };
  return reader->ReadFile(entry, begin, [&](absl::string_view bytes) {
    if (WriteOn(file.get(), bytes.data(), static_cast<int64_t>(bytes.size()))) {
      return absl::OkStatus();
    }
    return OfHost(FileError(
        errno, absl::StrCat(root_.path(), "/", EscapeForTerminal(path)),
        "cannot be written"));
  });
}

absl::Status LayerUnpacker::TakeLink(const std::string& path,
                                     const TarEntry& entry) {
  if (entry.link.empty() || entry.link.size() > kMostTargetBytes) {
    return Wrong(path, absl::StrCat("is a link to a name that is empty or has "
                                    "more than ",
                                    kMostTargetBytes, " bytes"));
  }
  if (entry.kind == TarEntry::Kind::kSymbolicLink) {
    return root_.MakeSymbolicLink(path, entry.link);
  }
  const absl::StatusOr<std::string> target = CleanPath(entry.link);
  if (!target.ok()) return target.status();
  if (target->empty()) return Wrong(path, "is a hard link to the root");
  return root_.MakeHardLink(path, *target);
}

absl::Status LayerUnpacker::TakeWhiteout(const std::string& folder,
                                         absl::string_view name,
                                         const TarEntry& entry) {
  if (entry.kind == TarEntry::Kind::kFolder) {
    return Wrong(entry.path, "is a folder whose name begins with .wh.");
  }
  const auto is_kept = [this](const std::string& path) { return IsKept(path); };
  if (name != kOpaque && absl::StartsWith(name, kReserved)) {
    return absl::OkStatus();
  }
  if (name == kOpaque) {
    // Lower layers have nothing more there afterwards.
    if (!cleared_.insert(folder).second) return absl::OkStatus();
    return root_.Clear(folder, is_kept);
  }
  absl::ConsumePrefix(&name, kWhiteout);
  if (name.empty() || name == "." || name == "..") {
    return Wrong(entry.path, "removes no file");
  }
  const std::string target =
      folder.empty() ? std::string(name) : absl::StrCat(folder, "/", name);
  // Whiteouts remove only what lower layers have. If this layer has a link in
  // place of a folder, umoci also writes whiteouts of what was in the folder.
  if (!IsKept(target)) return root_.Remove(target);
  if (!cleared_.insert(target).second) return absl::OkStatus();
  return root_.Clear(target, is_kept);
}

}  // namespace footprint
