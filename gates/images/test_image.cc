#include "footprint/gates/images/test_image.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/gates/bundles/test_tar.h"

namespace footprint {
namespace {

constexpr char kManifestType[] = "application/vnd.oci.image.manifest.v1+json";
constexpr char kConfigType[] = "application/vnd.oci.image.config.v1+json";

std::string Describe(const std::filesystem::path& path) {
  struct stat about = {};
  lstat(path.c_str(), &about);
  if (S_ISDIR(about.st_mode)) {
    return about.st_mode == (S_IFDIR | 0755) ? "d" : "d with another mode";
  }
  if (S_ISLNK(about.st_mode)) {
    return absl::StrCat("l ", std::filesystem::read_symlink(path).string());
  }
  return absl::StrCat("f ", (about.st_mode & 0111) != 0 ? "x " : "- ",
                      about.st_nlink, " ", ReadTestFile(path.string()));
}

}  // namespace

std::string TestArchitecture() {
  utsname names = {};
  uname(&names);
  const std::string machine = names.machine;
  return machine == "x86_64"    ? "amd64"
         : machine == "aarch64" ? "arm64"
                                : machine;
}

std::string AddTestBlob(const std::string& bytes, const std::string& media_type,
                        const std::string& more, TestImageFiles* files) {
  const std::string sha256 = Sha256Hex(bytes);
  files->files[absl::StrCat("blobs/sha256/", sha256)] = bytes;
  return absl::StrCat(R"({"mediaType":")", media_type, R"(","digest":"sha256:)",
                      sha256, R"(","size":)", bytes.size(), more, "}");
}

std::string TestIndex(const std::vector<std::string>& descriptors) {
  return absl::StrCat(R"({"schemaVersion":2,"manifests":[)",
                      absl::StrJoin(descriptors, ","), "]}");
}

TestImageFiles FilesOf(const TestImage& image) {
  TestImageFiles files;
  std::vector<std::string> layers;
  std::vector<std::string> diff_ids;
  for (const TestLayer& each : image.layers) {
    const std::string& blob = each.packed.empty() ? each.bytes : each.packed;
    layers.push_back(AddTestBlob(blob, each.media_type, "", &files));
    diff_ids.push_back(absl::StrCat(
        "\"sha256:",
        each.diff_id.empty() ? Sha256Hex(each.bytes) : each.diff_id, "\""));
  }
  const std::string config = absl::StrCat(
      R"({"os":"linux","architecture":")",
      image.architecture.empty() ? TestArchitecture() : image.architecture,
      R"(","config":{)", image.settings,
      R"(},"rootfs":{"type":"layers","diff_ids":[)",
      absl::StrJoin(diff_ids, ","), "]}}");
  const std::string manifest =
      absl::StrCat(R"({"schemaVersion":2,"config":)",
                   AddTestBlob(config, kConfigType, "", &files),
                   R"(,"layers":[)", absl::StrJoin(layers, ","), "]}");
  files.descriptor = AddTestBlob(manifest, kManifestType, "", &files);
  files.manifest_sha256 = Sha256Hex(manifest);
  files.files["index.json"] = TestIndex({files.descriptor});
  files.files["oci-layout"] = R"({"imageLayoutVersion":"1.0.0"})";
  return files;
}

std::string WriteImageFolder(const std::string& name,
                             const std::map<std::string, std::string>& files) {
  const std::string folder = TestPath(name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(absl::StrCat(folder, "/blobs/sha256"));
  for (const auto& [path, bytes] : files) {
    WriteTestFile(absl::StrCat(name, "/", path), bytes);
  }
  return folder;
}

std::string WriteImageArchive(const std::string& name,
                              const std::map<std::string, std::string>& files) {
  std::string bytes = UstarEntry("blobs/", '5');
  for (const auto& [path, content] : files) {
    bytes += UstarEntry(path, '0', content);
  }
  return WriteTestFile(name, bytes + TarEnd());
}

std::vector<std::string> ListFolder(const std::string& folder) {
  std::vector<std::string> lines;
  for (const auto& each :
       std::filesystem::recursive_directory_iterator(folder)) {
    lines.push_back(
        absl::StrCat(each.path().lexically_relative(folder).string(), " ",
                     Describe(each.path())));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace footprint
