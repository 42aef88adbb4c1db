#include "footprint/gates/images/image_documents.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/text/report_escape.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using nlohmann::json;
using Kind = BlobDescriptor::Kind;

constexpr int kMostDepth = 32;
constexpr size_t kMostTexts = 1000;
constexpr size_t kMostManifests = 1000;
constexpr size_t kMostShownBytes = 100;
// Linux passes no longer text to a program.
constexpr size_t kMostTextBytes = (128 << 10) - 1;
// The most of a working folder, which is made if it is missing.
constexpr size_t kMostFolderBytes = 1000;
constexpr size_t kMostFolderParts = 60;
constexpr size_t kMostPartBytes = 255;

std::string Shown(absl::string_view text) {
  return EscapeForTerminal(text.substr(0, kMostShownBytes));
}

// The names that this file reads, except those of labels and annotations.
constexpr absl::string_view kReadNames[] = {"Cmd",
                                            "Entrypoint",
                                            "Env",
                                            "Labels",
                                            "WorkingDir",
                                            "annotations",
                                            "architecture",
                                            "config",
                                            "diff_ids",
                                            "digest",
                                            "imageLayoutVersion",
                                            "layers",
                                            "manifests",
                                            "mediaType",
                                            "os",
                                            "platform",
                                            "rootfs",
                                            "schemaVersion",
                                            "size"};

// The objects whose names are the author's own, so that their letters count.
constexpr absl::string_view kMaps[] = {"ExposedPorts", "Labels", "Volumes",
                                       "annotations"};

// Returns the name as Go's reader compares it: without regard to case, also of
// the two letters beyond ASCII that have a lower case in it.
std::string FoldName(absl::string_view name) {
  return absl::AsciiStrToLower(
      absl::StrReplaceAll(name, {{"\u017f", "s"}, {"\u212a", "k"}}));
}

// Returns whether the programs that run images take the name for one that this
// file reads, although it is another.
bool IsMistakable(absl::string_view name) {
  return std::any_of(std::begin(kReadNames), std::end(kReadNames),
                     [folded = FoldName(name), name](absl::string_view read) {
                       return name != read && folded == FoldName(read);
                     });
}

// Watches the names of a document while it is parsed.
class NameWatch {
 public:
  void BeginValue(size_t level) {
    levels_.resize(level + 1);
    levels_[level] = Level();
    levels_[level].is_map =
        level > 0 && std::find(std::begin(kMaps), std::end(kMaps),
                               levels_[level - 1].last_name) != std::end(kMaps);
  }
  void AddName(size_t level, const std::string& name) {
    Level& names = levels_[level];
    names.last_name = name;
    if (!names.names.insert(name).second) twice_ = Shown(name);
    if (!names.is_map && IsMistakable(name)) mistakable_ = Shown(name);
  }

  // These are empty if there is no such name.
  const std::string& twice() const { return twice_; }
  const std::string& mistakable() const { return mistakable_; }

 private:
  struct Level {
    std::set<std::string> names;
    std::string last_name;
    bool is_map = false;
  };
  std::vector<Level> levels_;
  std::string twice_;
  std::string mistakable_;
};

// Parses one document. Its errors begin with the document's name.
class Document {
 public:
  explicit Document(absl::string_view name) : name_(name) {}

  absl::Status Wrong(absl::string_view problem) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, " ", problem));
  }

  // Parses an object. Of two values with one name, readers differ in which
  // they take, and Docker's reader ignores the case of names.
  absl::StatusOr<json> Parse(absl::string_view text) const {
    if (text.size() > static_cast<size_t>(kMostDocumentBytes)) {
      return Wrong(absl::StrCat("has more than ", kMostDocumentBytes,
                                " bytes, the most"));
    }
    NameWatch names;
    bool is_deep = false;
    const json::parser_callback_t note =
        [&](int depth, json::parse_event_t event, json& parsed) {
          if (depth > kMostDepth) is_deep = true;
          if (is_deep) return false;
          const auto level = static_cast<size_t>(depth);
          if (event == json::parse_event_t::object_start ||
              event == json::parse_event_t::array_start) {
            names.BeginValue(level);
          } else if (event == json::parse_event_t::key) {
            names.AddName(level - 1, parsed.get<std::string>());
          }
          return true;
        };
    json document = json::parse(text.begin(), text.end(), note,
                                /*allow_exceptions=*/false);
    if (is_deep) {
      return Wrong(absl::StrCat("nests deeper than ", kMostDepth));
    }
    if (!document.is_object()) return Wrong("is not an object of JSON");
    if (!names.twice().empty()) {
      return Wrong(absl::StrCat("has the name '", names.twice(),
                                "' twice; it is damaged or made to mislead"));
    }
    if (!names.mistakable().empty()) {
      return Wrong(absl::StrCat("has the name '", names.mistakable(),
                                "', which some programs take for the same name "
                                "with other letters; it is damaged or made to "
                                "mislead"));
    }
    return document;
  }

  // Sets the text of a field. A field that is missing, or null, leaves it.
  absl::Status TakeText(const json& object, const char* field,
                        std::string* text) const {
    const auto found = object.find(field);
    if (found == object.end() || found->is_null()) return absl::OkStatus();
    if (!found->is_string()) {
      return Wrong(absl::StrCat("has a '", field, "' that is no text"));
    }
    *text = found->get<std::string>();
    return absl::OkStatus();
  }

  // Does the same for a list of texts that a program gets, which therefore have
  // no zero byte.
  absl::Status TakeTexts(const json& object, const char* field,
                         std::vector<std::string>* texts) const {
    const auto found = object.find(field);
    if (found == object.end() || found->is_null()) return absl::OkStatus();
    const bool is_list = found->is_array() && found->size() <= kMostTexts;
    for (const json& each : is_list ? *found : json::array({nullptr})) {
      if (!each.is_string()) {
        return Wrong(absl::StrCat("has a '", field,
                                  "' that is not a list of at most ",
                                  kMostTexts, " texts"));
      }
      texts->push_back(each.get<std::string>());
      if (texts->back().find('\0') != std::string::npos) {
        return Wrong(absl::StrCat("has a '", field,
                                  "' in which a text has a zero byte"));
      }
      if (texts->back().size() > kMostTextBytes) {
        return Wrong(absl::StrCat(
            "has a '", field, "' with a text of ", texts->back().size(),
            " bytes; ", kMostTextBytes, " is the most that a program can get"));
      }
    }
    return absl::OkStatus();
  }

  // Returns the field's object; null if it is missing.
  absl::StatusOr<const json*> FindObject(const json& object,
                                         const char* field) const {
    const auto found = object.find(field);
    if (found == object.end() || found->is_null()) return nullptr;
    if (!found->is_object()) {
      return Wrong(absl::StrCat("has a '", field, "' that is no object"));
    }
    return &*found;
  }

  absl::StatusOr<const json*> FindList(const json& object, const char* field,
                                       size_t most) const {
    const auto found = object.find(field);
    if (found == object.end() || !found->is_array()) {
      return Wrong(absl::StrCat("has no list '", field, "'"));
    }
    if (found->size() > most) {
      return Wrong(absl::StrCat("has ", found->size(), " '", field, "'; ", most,
                                " is the most"));
    }
    return &*found;
  }

  absl::StatusOr<std::string> TakeDigest(const std::string& text) const {
    absl::string_view digits = text;
    if (absl::ConsumePrefix(&digits, "sha256:") && IsSha256Hex(digits)) {
      return std::string(digits);
    }
    return Wrong(absl::StrCat("has the digest '", Shown(text),
                              "'; it must be sha256: and 64 digits in lower "
                              "case"));
  }

 private:
  const absl::string_view name_;
};

Kind KindOf(absl::string_view media_type) {
  static const auto* const kinds =
      new std::vector<std::pair<absl::string_view, Kind>>(
          {{"application/vnd.oci.image.index.v1+json", Kind::kIndex},
           {"application/vnd.docker.distribution.manifest.list.v2+json",
            Kind::kIndex},
           {"application/vnd.oci.image.manifest.v1+json", Kind::kManifest},
           {"application/vnd.docker.distribution.manifest.v2+json",
            Kind::kManifest},
           {"application/vnd.oci.image.config.v1+json", Kind::kConfig},
           {"application/vnd.docker.container.image.v1+json", Kind::kConfig},
           {"application/vnd.oci.image.layer.v1.tar", Kind::kLayer},
           {"application/vnd.oci.image.layer.v1.tar+gzip", Kind::kLayer},
           {"application/vnd.oci.image.layer.v1.tar+zstd", Kind::kLayer},
           {"application/vnd.docker.image.rootfs.diff.tar", Kind::kLayer},
           {"application/vnd.docker.image.rootfs.diff.tar.gzip", Kind::kLayer},
           {"application/vnd.docker.image.rootfs.diff.tar.zstd",
            Kind::kLayer}});
  for (const auto& [name, kind] : *kinds) {
    if (media_type == name) return kind;
  }
  return Kind::kOther;
}

// Returns what to do about a layer that is not read.
std::string AdviceOnLayer(absl::string_view media_type) {
  if (absl::EndsWith(media_type, "+encrypted")) {
    return "is encrypted; send an image whose layers are not";
  }
  if (absl::StrContains(media_type, "nondistributable") ||
      absl::StrContains(media_type, "foreign")) {
    return "is not in the image, but only its address; send an image that has "
           "all of its layers";
  }
  return "is not read; layers are tar archives, plain or compressed by gzip or "
         "zstd";
}

absl::Status SetPlatform(const Document& document, const json& object,
                         BlobDescriptor* blob) {
  const absl::StatusOr<const json*> platform =
      document.FindObject(object, "platform");
  if (!platform.ok()) return platform.status();
  if (*platform != nullptr) {
    absl::Status status = document.TakeText(**platform, "os", &blob->os);
    if (status.ok()) {
      status =
          document.TakeText(**platform, "architecture", &blob->architecture);
    }
    if (!status.ok()) return status;
  }
  const absl::StatusOr<const json*> notes =
      document.FindObject(object, "annotations");
  if (!notes.ok() || *notes == nullptr) return notes.status();
  std::string reference_type;
  absl::Status status = document.TakeText(
      **notes, "org.opencontainers.image.ref.name", &blob->tag);
  if (status.ok()) {
    status = document.TakeText(**notes, "vnd.docker.reference.type",
                               &reference_type);
  }
  blob->is_attestation = !reference_type.empty();
  return status;
}

absl::StatusOr<BlobDescriptor> TakeBlob(const Document& document,
                                        const json& object) {
  if (!object.is_object()) {
    return document.Wrong("names a blob by something that is no object");
  }
  BlobDescriptor blob;
  absl::Status status =
      document.TakeText(object, "mediaType", &blob.media_type);
  std::string digest;
  if (status.ok()) status = document.TakeText(object, "digest", &digest);
  if (status.ok()) status = SetPlatform(document, object, &blob);
  if (!status.ok()) return status;
  absl::StatusOr<std::string> sha256 = document.TakeDigest(digest);
  if (!sha256.ok()) return sha256.status();
  blob.sha256 = *std::move(sha256);
  const auto size = object.find("size");
  if (size == object.end() || !size->is_number_unsigned() ||
      size->get<uint64_t>() > uint64_t{1} << 62) {
    return document.Wrong(
        absl::StrCat("names the blob ", digest,
                     " without a size that is a number of bytes up to 2^62"));
  }
  blob.size_bytes = static_cast<int64_t>(size->get<uint64_t>());
  blob.kind = KindOf(blob.media_type);
  return blob;
}

// Checks what all documents of this version have, and that the document itself
// does not claim to be of another kind than `kind`.
absl::Status CheckKind(const Document& document, const json& object,
                       Kind kind) {
  const auto version = object.find("schemaVersion");
  if (version == object.end() || *version != 2) {
    return document.Wrong(
        "has no schemaVersion 2; images of Docker's schema 1 are not read, so "
        "make the image anew with a newer tool");
  }
  std::string media_type;
  const absl::Status status =
      document.TakeText(object, "mediaType", &media_type);
  if (!status.ok()) return status;
  const char* const other = kind == Kind::kIndex ? "layers" : "manifests";
  if ((media_type.empty() || KindOf(media_type) == kind) &&
      !object.contains(other)) {
    return absl::OkStatus();
  }
  return document.Wrong(absl::StrCat(
      "is named as ", kind == Kind::kIndex ? "an index" : "a manifest",
      ", and says that it is something else"));
}

absl::Status TakeFolder(const Document& document, std::string* folder) {
  if (folder->empty()) *folder = "/";
  const std::vector<absl::string_view> parts =
      absl::StrSplit(*folder, '/', absl::SkipEmpty());
  const bool leaves =
      std::find(parts.begin(), parts.end(), "..") != parts.end();
  if ((*folder)[0] != '/' || leaves ||
      folder->find('\0') != std::string::npos) {
    return document.Wrong(absl::StrCat("has the WorkingDir '", Shown(*folder),
                                       "', which is no absolute path"));
  }
  const bool has_long_part = std::any_of(
      parts.begin(), parts.end(),
      [](absl::string_view part) { return part.size() > kMostPartBytes; });
  if (has_long_part || parts.size() > kMostFolderParts ||
      folder->size() > kMostFolderBytes) {
    return document.Wrong(absl::StrCat(
        "has the WorkingDir '", Shown(*folder), "', which has more than ",
        kMostFolderBytes, " bytes or ", kMostFolderParts,
        " parts, or a part of more than ", kMostPartBytes, " bytes"));
  }
  *folder = absl::StrCat("/", absl::StrJoin(parts, "/"));
  return absl::OkStatus();
}

absl::Status CheckEnvironment(const Document& document,
                              const std::vector<std::string>& environment) {
  for (const std::string& each : environment) {
    const size_t equals = each.find('=');
    if (equals != std::string::npos && equals > 0) continue;
    return document.Wrong(absl::StrCat("has '", Shown(each),
                                       "' in its Env, which is not "
                                       "NAME=value"));
  }
  return absl::OkStatus();
}

absl::Status TakeLabel(const Document& document, const json& settings,
                       ImageConfig* config) {
  const absl::StatusOr<const json*> labels =
      document.FindObject(settings, "Labels");
  if (!labels.ok() || *labels == nullptr) return labels.status();
  const auto label = (*labels)->find(kBundleLabel);
  if (label == (*labels)->end() || label->is_null()) return absl::OkStatus();
  config->bundle_label.emplace();
  return document.TakeText(**labels, kBundleLabel, &*config->bundle_label);
}

// Takes what the image says about how it is run.
absl::Status TakeSettings(const Document& document, const json& object,
                          ImageConfig* config) {
  const absl::StatusOr<const json*> settings =
      document.FindObject(object, "config");
  if (!settings.ok()) return settings.status();
  if (*settings == nullptr)
    return TakeFolder(document, &config->working_folder);
  const json& given = **settings;
  absl::Status status = document.TakeTexts(given, "Env", &config->environment);
  if (status.ok()) status = CheckEnvironment(document, config->environment);
  if (status.ok()) {
    status = document.TakeTexts(given, "Entrypoint", &config->entrypoint);
  }
  if (status.ok()) status = document.TakeTexts(given, "Cmd", &config->command);
  if (status.ok()) {
    status = document.TakeText(given, "WorkingDir", &config->working_folder);
  }
  if (status.ok()) status = TakeFolder(document, &config->working_folder);
  return status.ok() ? TakeLabel(document, given, config) : status;
}

absl::Status TakeDiffIds(const Document& document, const json& object,
                         ImageConfig* config) {
  const absl::StatusOr<const json*> root =
      document.FindObject(object, "rootfs");
  if (!root.ok()) return root.status();
  if (*root == nullptr) return document.Wrong("has no 'rootfs'");
  const absl::StatusOr<const json*> list =
      document.FindList(**root, "diff_ids", kMostLayers);
  if (!list.ok()) return list.status();
  for (const json& each : **list) {
    absl::StatusOr<std::string> sha256 = document.TakeDigest(
        each.is_string() ? each.get<std::string>() : std::string("?"));
    if (!sha256.ok()) return sha256.status();
    config->diff_ids.push_back(*std::move(sha256));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ImageIndex> ParseImageIndex(absl::string_view text,
                                           absl::string_view name) {
  const Document document(name);
  const absl::StatusOr<json> object = document.Parse(text);
  if (!object.ok()) return object.status();
  const absl::Status status = CheckKind(document, *object, Kind::kIndex);
  if (!status.ok()) return status;
  const absl::StatusOr<const json*> list =
      document.FindList(*object, "manifests", kMostManifests);
  if (!list.ok()) return list.status();
  ImageIndex index;
  for (const json& each : **list) {
    absl::StatusOr<BlobDescriptor> blob = TakeBlob(document, each);
    if (!blob.ok()) return blob.status();
    index.manifests.push_back(*std::move(blob));
  }
  return index;
}

absl::StatusOr<ImageManifest> ParseManifestOfImage(absl::string_view text,
                                                   absl::string_view name) {
  const Document document(name);
  const absl::StatusOr<json> object = document.Parse(text);
  if (!object.ok()) return object.status();
  const absl::Status status = CheckKind(document, *object, Kind::kManifest);
  if (!status.ok()) return status;
  const auto config = object->find("config");
  absl::StatusOr<BlobDescriptor> blob =
      TakeBlob(document, config == object->end() ? json() : *config);
  if (!blob.ok()) return blob.status();
  ImageManifest manifest;
  manifest.config = *std::move(blob);
  if (manifest.config.kind != Kind::kConfig) {
    return document.Wrong(absl::StrCat("has a config of the type '",
                                       Shown(manifest.config.media_type),
                                       "', so it is no image that can be run"));
  }
  const absl::StatusOr<const json*> list =
      document.FindList(*object, "layers", kMostLayers);
  if (!list.ok()) return list.status();
  for (const json& each : **list) {
    blob = TakeBlob(document, each);
    if (!blob.ok()) return blob.status();
    if (blob->kind != Kind::kLayer) {
      return document.Wrong(absl::StrCat("has a layer of the type '",
                                         Shown(blob->media_type), "', which ",
                                         AdviceOnLayer(blob->media_type)));
    }
    manifest.layers.push_back(*std::move(blob));
  }
  return manifest;
}

absl::StatusOr<ImageConfig> ParseImageConfig(absl::string_view text,
                                             absl::string_view name) {
  const Document document(name);
  const absl::StatusOr<json> object = document.Parse(text);
  if (!object.ok()) return object.status();
  ImageConfig config;
  absl::Status status = document.TakeText(*object, "os", &config.os);
  if (status.ok()) {
    status = document.TakeText(*object, "architecture", &config.architecture);
  }
  if (status.ok()) status = TakeSettings(document, *object, &config);
  if (status.ok()) status = TakeDiffIds(document, *object, &config);
  if (!status.ok()) return status;
  return config;
}

absl::Status CheckLayoutFile(absl::string_view text) {
  const Document document("oci-layout");
  const absl::StatusOr<json> object = document.Parse(text);
  if (!object.ok()) return object.status();
  std::string version;
  const absl::Status status =
      document.TakeText(*object, "imageLayoutVersion", &version);
  if (!status.ok() || version == "1.0.0") return status;
  return document.Wrong(absl::StrCat("has the imageLayoutVersion '",
                                     Shown(version), "'; 1.0.0 is read"));
}

}  // namespace footprint
