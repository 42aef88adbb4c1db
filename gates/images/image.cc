#include "footprint/gates/images/image.h"

#include <sys/utsname.h>

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/bundles/bundle.h"

namespace footprint {
namespace {

using Kind = BlobDescriptor::Kind;

constexpr absl::string_view kDigestMark = "@sha256:";
constexpr size_t kMostLabelBytes = 256;
constexpr size_t kMostShownBytes = 100;

// Returns this machine's architecture, by its name in images.
std::string HostArchitecture() {
  utsname names = {};
  uname(&names);
  const std::string machine = names.machine;
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return machine;
}

std::string PlatformText(const std::string& os,
                         const std::string& architecture) {
  return EscapeForTerminal(absl::StrCat(
      os.empty() ? "?" : os.substr(0, kMostShownBytes), "/",
      architecture.empty() ? "?" : architecture.substr(0, kMostShownBytes)));
}

std::string Describe(const BlobDescriptor& blob) {
  std::string text = absl::StrCat("sha256:", blob.sha256);
  if (!blob.os.empty() || !blob.architecture.empty()) {
    absl::StrAppend(&text, " (", PlatformText(blob.os, blob.architecture), ")");
  }
  if (!blob.tag.empty()) {
    absl::StrAppend(&text, " (",
                    EscapeForTerminal(blob.tag.substr(0, kMostShownBytes)),
                    ")");
  }
  return text;
}

// Finds the manifest to read.
class ManifestChoice {
 public:
  ManifestChoice(const ImageLayout& layout, const std::string& sha256)
      : layout_(layout), sha256_(sha256) {}

  absl::StatusOr<BlobDescriptor> Choose(const std::string& path) {
    const absl::StatusOr<std::string> text = layout_.ReadIndex();
    if (!text.ok()) return text.status();
    const absl::Status status =
        AddIndex(*text, "index.json", /*is_nested=*/false, sha256_.empty());
    if (!status.ok()) return status;
    if (candidates_.size() == 1) return candidates_[0];
    return candidates_.empty() ? NoCandidate() : TooManyCandidates(path);
  }

 private:
  // Adds the manifests of an index. `is_meant`: any of them may be the one.
  absl::Status AddIndex(const std::string& text, const std::string& name,
                        bool is_nested, bool is_meant) {
    const absl::StatusOr<ImageIndex> index = ParseImageIndex(text, name);
    if (!index.ok()) return index.status();
    for (const BlobDescriptor& each : index->manifests) {
      const bool is_each_meant = is_meant || each.sha256 == sha256_;
      absl::Status status;
      if (each.kind == Kind::kIndex) {
        status = AddNestedIndex(each, is_nested, is_each_meant);
      } else if (each.kind == Kind::kManifest) {
        AddManifest(each, is_each_meant);
      } else if (is_each_meant) {
        status = absl::InvalidArgumentError(absl::StrCat(
            name, " names something of the type '",
            EscapeForTerminal(each.media_type.substr(0, kMostShownBytes)),
            "', which is no image"));
      }
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status AddNestedIndex(const BlobDescriptor& blob, bool is_nested,
                              bool is_meant) {
    if (is_nested) {
      return absl::InvalidArgumentError(
          absl::StrCat("the index sha256:", blob.sha256,
                       " is in an index that is in an index; name an image by "
                       "one index at most"));
    }
    // The same index may have several tags.
    if (!seen_.insert(blob.sha256).second) return absl::OkStatus();
    const absl::StatusOr<std::string> text = layout_.ReadDocument(blob);
    if (!text.ok()) return text.status();
    return AddIndex(*text, absl::StrCat("the index sha256:", blob.sha256),
                    /*is_nested=*/true, is_meant);
  }

  void AddManifest(const BlobDescriptor& blob, bool is_meant) {
    if (blob.is_attestation || !seen_.insert(blob.sha256).second) return;
    all_.push_back(Describe(blob));
    const bool is_for_host =
        (blob.os.empty() || blob.os == "linux") &&
        (blob.architecture.empty() || blob.architecture == HostArchitecture());
    if (is_meant && (is_for_host || blob.sha256 == sha256_)) {
      candidates_.push_back(blob);
    }
  }

  absl::Status NoCandidate() const {
    const std::string wanted =
        sha256_.empty()
            ? absl::StrCat("manifest for linux/", HostArchitecture())
            : absl::StrCat("manifest sha256:", sha256_);
    return absl::InvalidArgumentError(absl::StrCat(
        "the image has no ", wanted, "; it has ",
        all_.empty() ? "no image that can be run" : absl::StrJoin(all_, ", ")));
  }

  absl::Status TooManyCandidates(const std::string& path) const {
    std::vector<std::string> texts;
    for (const BlobDescriptor& each : candidates_) {
      texts.push_back(Describe(each));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "there are ", texts.size(), " images for linux/", HostArchitecture(),
        ": ", absl::StrJoin(texts, ", "), "; choose one, for example by ",
        EscapeForTerminal(path), kDigestMark, candidates_[0].sha256));
  }

  const ImageLayout& layout_;
  const std::string& sha256_;
  std::set<std::string> seen_;
  std::vector<std::string> all_;
  std::vector<BlobDescriptor> candidates_;
};

absl::Status CheckPlatform(const ImageConfig& config) {
  const bool is_for_host = (config.os.empty() || config.os == "linux") &&
                           (config.architecture.empty() ||
                            config.architecture == HostArchitecture());
  if (is_for_host) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the image is for ", PlatformText(config.os, config.architecture),
      ", and this host is linux/", HostArchitecture(),
      "; send an image for this host"));
}

std::string LabelOfImage(const std::string& entry) {
  const size_t slash = entry.rfind('/');
  const std::string name =
      slash == std::string::npos ? entry : entry.substr(slash + 1);
  std::string label = absl::StrCat("//image:", name);
  return label.size() <= kMostLabelBytes ? label : "//image";
}

// Sets what the label leaves out.
absl::Status AddDefaults(const ImageConfig& config, BundleManifest* manifest) {
  if (manifest->entry().empty()) {
    std::vector<std::string> words = config.entrypoint;
    if (manifest->arguments().empty()) {
      words.insert(words.end(), config.command.begin(), config.command.end());
    } else {
      words.insert(words.end(), manifest->arguments().begin(),
                   manifest->arguments().end());
    }
    if (words.empty() || words[0].empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the image names no program; give it an Entrypoint, or an entry in "
          "the label ",
          kBundleLabel));
    }
    manifest->set_entry(words[0]);
    manifest->mutable_arguments()->Assign(words.begin() + 1, words.end());
  }
  if (manifest->kind() == BundleManifest::KIND_UNSPECIFIED) {
    manifest->set_kind(BundleManifest::NATIVE_PROGRAM);
  }
  if (manifest->label().empty()) {
    manifest->set_label(LabelOfImage(manifest->entry()));
  }
  return absl::OkStatus();
}

absl::StatusOr<BundleManifest> MakeManifest(const ImageConfig& config) {
  BundleManifest manifest;
  manifest.set_schema_version(1);
  if (config.bundle_label.has_value()) {
    absl::StatusOr<BundleManifest> parsed =
        ParseImageManifest(*config.bundle_label, kBundleLabel);
    if (!parsed.ok()) return parsed;
    manifest = *std::move(parsed);
  }
  const absl::Status status = AddDefaults(config, &manifest);
  if (!status.ok()) return status;
  return manifest;
}

}  // namespace

ImageName ParseImageName(const std::string& text) {
  const size_t mark = text.rfind(std::string(kDigestMark));
  if (mark == std::string::npos) return {text, ""};
  std::string sha256 = text.substr(mark + kDigestMark.size());
  if (!IsSha256Hex(sha256)) return {text, ""};
  return {text.substr(0, mark), std::move(sha256)};
}

absl::StatusOr<Image> ReadImage(const ImageLayout& layout,
                                const std::string& sha256,
                                const std::string& path) {
  absl::StatusOr<BlobDescriptor> chosen =
      ManifestChoice(layout, sha256).Choose(path);
  if (!chosen.ok()) return chosen.status();
  Image image;
  image.descriptor = *std::move(chosen);
  absl::StatusOr<std::string> text = layout.ReadDocument(image.descriptor);
  if (!text.ok()) return text.status();
  absl::StatusOr<ImageManifest> manifest = ParseManifestOfImage(
      *text, absl::StrCat("the manifest sha256:", image.descriptor.sha256));
  if (!manifest.ok()) return manifest.status();
  image.config = manifest->config;
  text = layout.ReadDocument(image.config);
  if (!text.ok()) return text.status();
  absl::StatusOr<ImageConfig> config = ParseImageConfig(
      *text, absl::StrCat("the config sha256:", image.config.sha256));
  if (!config.ok()) return config.status();
  const absl::Status status = CheckPlatform(*config);
  if (!status.ok()) return status;
  if (config->diff_ids.size() != manifest->layers.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the image has ", manifest->layers.size(), " layers and ",
        config->diff_ids.size(), " diff_ids; make the image anew"));
  }
  for (size_t i = 0; i < config->diff_ids.size(); ++i) {
    image.layers.push_back(
        {std::move(manifest->layers[i]), std::move(config->diff_ids[i])});
  }
  absl::StatusOr<BundleManifest> bundle = MakeManifest(*config);
  if (!bundle.ok()) return bundle.status();
  image.manifest = *std::move(bundle);
  image.environment = std::move(config->environment);
  image.working_folder = std::move(config->working_folder);
  return image;
}

}  // namespace footprint
