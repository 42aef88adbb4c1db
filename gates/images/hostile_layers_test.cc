#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/test_tar.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "footprint/gates/images/image.h"
#include "footprint/gates/images/image_layout.h"
#include "footprint/gates/images/test_image.h"
#include "footprint/gates/images/unpack_image.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// A folder beside the image's. Nothing may be written to it or removed from it.
constexpr char kCanary[] = "canary";

std::string Canary() { return TestPath(kCanary); }

std::string File(const std::string& name, const std::string& bytes = "x") {
  return UstarEntry(name, '0', bytes);
}
std::string Folder(const std::string& name) { return UstarEntry(name, '5'); }
// A header of ustar has room for 100 bytes of the target.
std::string Link(const std::string& name, const std::string& target) {
  return PaxHeader("linkpath", target) + UstarEntry(name, '2', "", "pax");
}
std::string HardLink(const std::string& name, const std::string& target) {
  return UstarEntry(name, '1', "", target);
}

// The layer below each hostile one. "out" and "up" are links that lead out.
std::string LowerLayer() {
  return absl::StrCat(Folder("etc/"), File("etc/hosts"), Folder("folder/"),
                      File("folder/file"), Link("out", Canary()),
                      Link("up", absl::StrCat("../", kCanary)),
                      Link("root", "/"), Link("etc/here", "."), TarEnd());
}

struct HostileLayer {
  std::string name;
  std::string entries;  // with the end mark
  std::string message;  // what the refusal says
  // Changes the files of the layout.
  std::function<void(TestImageFiles* files)> change = {};
  std::string packed = "";
  std::string diff_id = "";
  BundleLimits limits = {};
};

std::string Long(size_t size) { return std::string(size, 'n'); }

std::string Deep(int depth) {
  std::string path;
  for (int i = 0; i < depth; ++i) path += "d/";
  return path + "f";
}

std::vector<HostileLayer> LayersThatLeaveByNames() {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"parent", File("../canary/x")},
      {"parent_after_a_folder", File("etc/../../canary/x")},
      {"parent_that_stays_inside", File("etc/../x")},
      {"parent_at_the_end", Folder("etc/..")},
      {"parent_alone", Folder("..")},
      {"parent_of_the_root", File("/../x")},
      {"folder_beside_the_root", Folder("../x/")},
      {"link_beside_the_root", Link("../x", "y")},
      {"hard_link_beside_the_root", HardLink("../x", "etc/hosts")},
      {"whiteout_beside_the_root", File("../canary/.wh.secret")},
      {"opaque_beside_the_root", File("../canary/.wh..wh..opq")},
      {"parent_in_a_pax_header",
       PaxHeader("path", "../canary/x") + File("harmless")},
      {"parent_in_a_gnu_name",
       UstarEntry("././@LongLink", 'L', std::string("../canary/x\0", 12)) +
           File("harmless")},
      {"hard_link_to_a_parent", HardLink("x", "../canary/secret")},
      {"hard_link_to_a_parent_in_a_pax_header",
       PaxHeader("linkpath", "../canary/secret") + HardLink("x", "etc/hosts")},
  };
  std::vector<HostileLayer> layers;
  for (const auto& [name, entries] : names) {
    layers.push_back({name, entries + TarEnd(), "has a part '..'"});
  }
  return layers;
}

std::vector<HostileLayer> LayersThatLeaveByLinks() {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"file_behind_an_absolute_link", File("out/x")},
      {"file_over_a_file_behind_a_link", File("out/secret", "changed")},
      {"file_behind_a_relative_link", File("up/x")},
      {"file_behind_a_link_to_the_root", File("root/etc/x")},
      {"file_behind_a_link_to_its_folder", File("etc/here/x")},
      {"file_behind_a_link_of_this_layer",
       Link("new", Canary()) + File("new/x")},
      {"file_behind_two_links",
       Link("one", "two") + Link("two", Canary()) + File("one/x")},
      {"folder_behind_a_link", Folder("out/folder/")},
      {"link_behind_a_link", Link("out/x", "y")},
      {"hard_link_behind_a_link", HardLink("out/x", "etc/hosts")},
      {"hard_link_to_a_file_behind_a_link", HardLink("x", "out/secret")},
      {"absolute_name_behind_a_link", File("/out/x")},
      {"dots_behind_a_link", File("./out/./x")},
      {"file_behind_a_link_with_a_hard_link",
       HardLink("again", "out") + File("again/x")},
  };
  std::vector<HostileLayer> layers;
  for (const auto& [name, entries] : names) {
    layers.push_back({name, entries + TarEnd(), "which is a link"});
  }
  return layers;
}

std::vector<HostileLayer> LayersWithBadEntries() {
  return {
      {"file_below_a_file", File("etc/hosts/x") + TarEnd(), "which is a file"},
      {"hard_link_to_the_hosts_file", HardLink("x", "/etc/passwd") + TarEnd(),
       "does not have before it"},
      {"hard_link_to_a_later_file",
       HardLink("x", "later") + File("later") + TarEnd(),
       "does not have before it"},
      {"hard_link_to_a_removed_file",
       File("etc/.wh.hosts") + HardLink("x", "etc/hosts") + TarEnd(),
       "does not have before it"},
      {"hard_link_to_itself", HardLink("etc/hosts", "etc/hosts") + TarEnd(),
       "no other file"},
      {"hard_link_to_a_folder", HardLink("x", "etc") + TarEnd(),
       "no other file"},
      {"hard_link_over_its_targets_folder",
       HardLink("folder", "folder/file") + TarEnd(), "no other file"},
      {"hard_link_to_the_root", HardLink("x", "/") + TarEnd(),
       "hard link to the root"},
      {"link_to_a_name_too_long", Link("x", Long(5000)) + TarEnd(),
       "more than 4095 bytes"},
      {"root_that_is_a_link", Link(".", Canary()) + TarEnd(),
       "is the image's root"},
      {"character_device", UstarEntry("null", '3') + TarEnd(), "is a device"},
      {"block_device", UstarEntry("etc/disk", '4') + TarEnd(), "is a device"},
      {"pipe", UstarEntry("etc/pipe", '6') + TarEnd(), "is a device"},
      {"whiteout_of_the_parent", File("etc/.wh...") + TarEnd(),
       "removes no file"},
      {"whiteout_of_its_folder", File("etc/.wh..") + TarEnd(),
       "removes no file"},
      {"whiteout_of_nothing", File("etc/.wh.") + TarEnd(), "removes no file"},
      {"whiteout_that_is_a_folder", Folder("etc/.wh.hosts/") + TarEnd(),
       "is a folder whose name begins with .wh."},
      {"file_below_a_whiteout", File(".wh.etc/x") + TarEnd(),
       "lies below a name that begins with .wh."},
      {"file_below_an_inner_whiteout", File("etc/.wh.x/y") + TarEnd(),
       "lies below a name that begins with .wh."},
      {"name_too_long",
       PaxHeader("path", Long(256)) + File("harmless") + TarEnd(),
       "a part of more than 255 bytes"},
      {"path_too_long",
       PaxHeader("path", Long(200) + "/" + Long(200) + "/" + Long(200) + "/" +
                             Long(200) + "/" + Long(200) + "/" + Long(200)) +
           File("harmless") + TarEnd(),
       "has more than 512 bytes"},
      {"path_too_deep", File(Deep(40)) + TarEnd(),
       "lies more than 32 folders deep"},
      {"dev_that_is_a_link", Link("dev", Canary()) + TarEnd(),
       "'dev' of the image is a link"},
      {"proc_that_is_a_file", File("proc") + TarEnd(),
       "'proc' of the image is a file"},
      {"tmp_that_is_a_link", Link("tmp", Canary()) + TarEnd(),
       "'tmp' of the image is a link"},
  };
}

std::vector<HostileLayer> LayersThatAreTooLarge() {
  BundleLimits few;
  few.entries = 20;
  std::string many;
  for (int i = 0; i < 30; ++i) many += File(absl::StrCat("f", i), "");
  BundleLimits small;
  small.unpacked_bytes = 1000;
  std::string zeros(size_t{8} << 20, '\0');
  const std::string bomb = File("zeros", zeros) + TarEnd();
  return {
      {"too_many_entries",
       many + TarEnd(),
       "more than 20 files",
       {},
       "",
       "",
       few},
      {"too_many_folders_in_names",
       File(Deep(25)) + TarEnd(),
       "more than 20",
       {},
       "",
       "",
       few},
      {"too_many_bytes",
       File("a", std::string(1000, 'a')) + TarEnd(),
       "unpacks to more than",
       {},
       "",
       "",
       small},
      {"bomb_of_gzip", bomb, "unpacks to more than", {}, GzipOf(bomb)},
      {"bomb_of_zstd", bomb, "unpacks to more than", {}, ZstdOf(bomb)},
      {"compressed_twice",
       bomb,
       "compressed more than once",
       {},
       ZstdOf(GzipOf(bomb))},
      {"size_that_is_a_lie",
       PaxHeader("size", "1152921504606846976") + File("a") + TarEnd(),
       "unpacks to more than"},
      {"layer_that_is_too_long",
       File("a") + TarEnd(),
       "is the most",
       {},
       "",
       "",
       [] {
         BundleLimits limits;
         limits.archive_bytes = 3000;
         return limits;
       }()},
  };
}

std::vector<HostileLayer> LayersThatAreDamaged() {
  const std::string good = File("a") + TarEnd();
  const std::string packed = GzipOf(good);
  const std::string first = GzipOf(good.substr(0, 700));
  const std::string second = GzipOf(good.substr(700));
  std::string bad_sum = good;
  bad_sum[0] = 'b';
  return {
      {"no_end", File("a"), "no end mark"},
      {"cut_in_a_file", good.substr(0, 700), "cannot be read"},
      {"bytes_behind_the_end", good + File("b") + TarEnd(), "behind its end"},
      {"damaged_header", bad_sum, "cannot be read"},
      {"no_archive", "hello", "cannot be read"},
      {"cut_gzip",
       good,
       "cannot be read",
       {},
       packed.substr(0, packed.size() / 2)},
      {"cut_gzip_header", good, "cannot be read", {}, packed.substr(0, 12)},
      // The trailer has the checksum and the size, 8 bytes.
      {"gzip_without_its_trailer",
       good,
       "cannot be read",
       {},
       packed.substr(0, packed.size() - 8)},
      {"gzip_cut_in_its_trailer",
       good,
       "cannot be read",
       {},
       packed.substr(0, packed.size() - 1)},
      {"gzip_without_its_second_member", good, "cannot be read", {}, first},
      {"cut_second_member_of_gzip",
       good,
       "cannot be read",
       {},
       first + second.substr(0, second.size() - 5)},
      {"bytes_behind_gzip", good, "behind its end", {}, packed + "behind"},
      {"zeros_behind_gzip",
       good,
       "behind its end",
       {},
       packed + std::string(512, '\0')},
      {"cut_zstd",
       good,
       "cannot be read",
       {},
       ZstdOf(good).substr(0, ZstdOf(good).size() - 3)},
      {"negative_size", PaxHeader("size", "-1") + File("a") + TarEnd(), ""},
      {"false_diff_id",
       good,
       "the image's config says",
       {},
       "",
       Sha256Hex("other")},
      {"changed_blob", good, "has the hash",
       [good](TestImageFiles* files) {
         std::string& blob =
             files->files[absl::StrCat("blobs/sha256/", Sha256Hex(good))];
         blob[512] = 'y';
       }},
      {"longer_blob", good, "its descriptor says",
       [good](TestImageFiles* files) {
         files->files[absl::StrCat("blobs/sha256/", Sha256Hex(good))] += "z";
       }},
      {"missing_blob", good, "the image has no 'blobs/sha256/",
       [good](TestImageFiles* files) {
         files->files.erase(absl::StrCat("blobs/sha256/", Sha256Hex(good)));
       }},
  };
}

std::vector<HostileLayer> HostileLayers() {
  std::vector<HostileLayer> all;
  for (auto* list :
       {LayersThatLeaveByNames, LayersThatLeaveByLinks, LayersWithBadEntries,
        LayersThatAreTooLarge, LayersThatAreDamaged}) {
    const std::vector<HostileLayer> layers = list();
    all.insert(all.end(), layers.begin(), layers.end());
  }
  return all;
}

class HostileLayersTest : public testing::TestWithParam<HostileLayer> {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(absl::StrCat(Canary(), "/folder"));
    WriteTestFile(absl::StrCat(kCanary, "/secret"), "unchanged");
    WriteTestFile(absl::StrCat(kCanary, "/folder/inner"), "unchanged");
    before_ = ListFolder(Canary());
    beside_ = Beside();
  }

  // Returns the names beside the image's folder.
  static std::vector<std::string> Beside() {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(TestPath(""))) {
      names.push_back(each.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Unpacks an image with these layers into TestPath("unpacked").
  static absl::Status Unpack(const TestImageFiles& files,
                             const BundleLimits& limits) {
    const std::string path = WriteImageFolder("layout", files.files);
    const SteadyTime end = EndOfTime(limits);
    const absl::StatusOr<absl::optional<ImageLayout>> layout =
        ImageLayout::Open(path, TestPath(""), limits, end);
    EXPECT_THAT(layout, IsOk());
    const absl::StatusOr<Image> image = ReadImage(**layout, "", path);
    EXPECT_THAT(image, IsOk());
    const absl::Status status = UnpackImage(
        **layout, *image, TestPath("unpacked"), geteuid(), limits, end);
    std::filesystem::remove_all(path);
    return status;
  }

  std::vector<std::string> before_;
  std::vector<std::string> beside_;
};

TEST_P(HostileLayersTest, IsRefusedAndWritesNothingElsewhere) {
  const HostileLayer& layer = GetParam();
  TestImage image;
  image.layers.push_back({LowerLayer()});
  image.layers.push_back({layer.entries, layer.packed});
  image.layers.back().diff_id = layer.diff_id;
  TestImageFiles files = FilesOf(image);
  if (layer.change) layer.change(&files);
  const absl::Status status = Unpack(files, layer.limits);
  EXPECT_THAT(status, AnyOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr(layer.message)),
                            StatusIs(absl::StatusCode::kResourceExhausted,
                                     HasSubstr(layer.message))));
  EXPECT_EQ(ListFolder(Canary()), before_);
  EXPECT_EQ(Beside(), beside_);
}

INSTANTIATE_TEST_SUITE_P(Layers, HostileLayersTest,
                         testing::ValuesIn(HostileLayers()),
                         [](const auto& info) { return info.param.name; });

// These layers are strange, but do no harm.
TEST_F(HostileLayersTest, LinksThatLeadOutAreKeptAndNotFollowed) {
  TestImage image;
  image.layers.push_back({LowerLayer()});
  image.layers.push_back({absl::StrCat(
      Folder("out/"), File("out/x"), File("up"), File("/absolute"),
      HardLink("second", "root"), File("root/.wh..wh..opq"),
      File("root/etc/.wh.hosts"), TarEnd())});
  image.layers.push_back({absl::StrCat(
      Link("new", Canary()), File("new/.wh.secret"), File("new/.wh..wh..opq"),
      File("new/folder/.wh..wh..opq"), TarEnd())});
  ASSERT_THAT(Unpack(FilesOf(image), BundleLimits()), IsOk());
  EXPECT_THAT(ListFolder(TestPath("unpacked")),
              testing::ElementsAre(
                  "absolute f - 1 x", "dev d", "etc d", "etc/here l .",
                  "etc/hosts f - 1 x", "folder d", "folder/file f - 1 x",
                  absl::StrCat("new l ", Canary()), "out d", "out/x f - 1 x",
                  "proc d", "root l /", "second l /", "tmp d", "up f - 1 x"));
  EXPECT_EQ(ListFolder(Canary()), before_);
  std::filesystem::remove_all(TestPath("unpacked"));
}

}  // namespace
}  // namespace footprint
