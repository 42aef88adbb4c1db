// Compares unpacked images with a model of them: a map of paths.

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/random/property_seeds.h"
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

// A step of a layer.
struct Step {
  char kind = '0';  // as in UstarEntry; 'w' a whiteout, 'o' an opaque one
  std::string path;
  std::string text;  // bytes, or target
  bool is_executable = false;
};

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string Below(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : absl::StrCat(folder, "/", name);
}

// The content that all names of a file share.
struct Inode {
  char kind = '5';
  std::string text;
  bool is_executable = false;
};

// The naive image: paths and what they are.
class Model {
 public:
  void BeginLayer() { own_.clear(); }

  // Applies the step. Returns false, having changed nothing, if it is refused.
  bool Apply(const Step& step) {
    if (step.kind == 'w' || step.kind == 'o') {
      Hide(step);
      return true;
    }
    if (!MayMakeParents(step.path)) return false;
    std::shared_ptr<Inode> inode = std::make_shared<Inode>();
    *inode = {step.kind, step.text, step.is_executable};
    if (step.kind == '1') {
      const auto found = files_.find(step.text);
      if (!IsReal(ParentOf(step.text)) || found == files_.end() ||
          found->second->kind == '5' || step.text == step.path ||
          absl::StartsWith(step.text, absl::StrCat(step.path, "/"))) {
        return false;
      }
      inode = found->second;
    }
    MakeParents(step.path);
    const auto old = files_.find(step.path);
    const bool is_kept =
        step.kind == '5' && old != files_.end() && old->second->kind == '5';
    if (!is_kept) {
      Remove(step.path, /*with_own=*/true);
      files_[step.path] = inode;
    }
    for (std::string each = step.path; !each.empty(); each = ParentOf(each)) {
      own_.insert(each);
    }
    return true;
  }

  std::vector<std::string> Lines() const {
    std::map<const Inode*, int> names;
    for (const auto& [path, inode] : files_) ++names[inode.get()];
    std::set<std::string> lines = {"dev d", "proc d", "tmp d"};
    for (const auto& [path, inode] : files_) {
      if (inode->kind == '5') {
        lines.insert(absl::StrCat(path, " d"));
      } else if (inode->kind == '2') {
        lines.insert(absl::StrCat(path, " l ", inode->text));
      } else {
        lines.insert(absl::StrCat(path, " f ",
                                  inode->is_executable ? "x " : "- ",
                                  names[inode.get()], " ", inode->text));
      }
    }
    return {lines.begin(), lines.end()};
  }

  std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const auto& [path, inode] : files_) paths.push_back(path);
    return paths;
  }

 private:
  bool IsFolder(const std::string& path) const {
    const auto found = files_.find(path);
    return path.empty() ||
           (found != files_.end() && found->second->kind == '5');
  }
  // Returns whether the path and all that it lies in are folders.
  bool IsReal(const std::string& path) const {
    return path.empty() || (IsFolder(path) && IsReal(ParentOf(path)));
  }
  // Returns whether each part before the last one is a folder or is missing.
  bool MayMakeParents(const std::string& path) const {
    const std::string parent = ParentOf(path);
    if (parent.empty()) return true;
    return (IsFolder(parent) || files_.count(parent) == 0) &&
           MayMakeParents(parent);
  }
  void MakeParents(const std::string& path) {
    const std::string parent = ParentOf(path);
    if (parent.empty()) return;
    MakeParents(parent);
    if (files_.count(parent) == 0) {
      files_[parent] = std::make_shared<Inode>();
    }
  }
  // Removes the path and all below it, or only what lower layers have.
  void Remove(const std::string& path, bool with_own) {
    for (auto each = files_.begin(); each != files_.end();) {
      const bool is_it = each->first == path || path.empty() ||
                         absl::StartsWith(each->first, path + "/");
      const bool stays = !with_own && own_.count(each->first) > 0;
      each = is_it && !stays ? files_.erase(each) : std::next(each);
    }
  }
  void Hide(const Step& step) {
    // Nothing is behind a link or a file.
    if (!MayMakeParents(step.path)) return;
    if (step.kind == 'w') {
      Remove(step.path, /*with_own=*/false);
    } else if (IsFolder(step.path)) {
      // The folder stays, and what was in it goes.
      const bool is_own = !own_.insert(step.path).second;
      Remove(step.path, /*with_own=*/false);
      if (!is_own) own_.erase(step.path);
    }
  }

  std::map<std::string, std::shared_ptr<Inode>> files_;
  std::set<std::string> own_;
};

class ImageMaker {
 public:
  explicit ImageMaker(uint32_t seed) : random_(seed) {}

  // Adds layers to the image and to the model. Returns false if the last step
  // is one that is refused.
  bool Make(TestImage* image, Model* model) {
    const int layer_count = 1 + Below(4);
    for (int i = 0; i < layer_count; ++i) {
      std::string bytes;
      model->BeginLayer();
      const int step_count = 1 + Below(14);
      bool is_refused = false;
      for (int k = 0; k < step_count && !is_refused; ++k) {
        const Step step = MakeStep(*model);
        Model before = *model;
        is_refused = !model->Apply(step);
        // Most images must be good ones.
        if (is_refused && Below(100) > 0) {
          *model = before;
          is_refused = false;
          continue;
        }
        bytes += Entry(step);
      }
      bytes += TarEnd();
      image->layers.push_back({bytes, Packed(bytes)});
      if (is_refused) return false;
    }
    return true;
  }

 private:
  int Below(int limit) {
    return static_cast<int>(random_() % static_cast<unsigned>(limit));
  }

  std::string Packed(const std::string& bytes) {
    switch (Below(3)) {
      case 0:
        return GzipOf(bytes);
      case 1:
        return ZstdOf(bytes);
      default:
        return "";
    }
  }

  std::string MakePath() {
    std::string path;
    const int depth = 1 + Below(3);
    for (int i = 0; i < depth; ++i) {
      path = footprint::Below(path, std::string(1, "abc"[Below(3)]));
    }
    return path;
  }

  Step MakeStep(const Model& model) {
    Step step;
    step.kind = "00055512wwo"[Below(11)];
    const std::vector<std::string> paths = model.Paths();
    const bool is_known = !paths.empty() && Below(2) == 0;
    step.path = is_known ? paths[random_() % paths.size()] : MakePath();
    if (step.kind == '0') {
      step.text = std::to_string(random_());
      step.is_executable = Below(2) == 0;
    }
    if (step.kind == '2') step.text = Below(2) == 0 ? "/etc" : "../b";
    if (step.kind == '1') {
      step.text = paths.empty() ? "a" : paths[random_() % paths.size()];
    }
    return step;
  }

  std::string Entry(const Step& step) {
    const std::string begin =
        std::vector<std::string>{"", "./", "/"}[static_cast<size_t>(Below(3))];
    const std::string folder = ParentOf(step.path);
    switch (step.kind) {
      case 'w': {
        const std::string name =
            folder.empty() ? step.path : step.path.substr(folder.size() + 1);
        return UstarEntry(
            begin + footprint::Below(folder, absl::StrCat(".wh.", name)), '0');
      }
      case 'o':
        return UstarEntry(begin + footprint::Below(step.path, ".wh..wh..opq"),
                          '0');
      case '0':
        return UstarEntry(begin + step.path, '0', step.text, "",
                          step.is_executable ? 0755 : 0600);
      case '5':
        return UstarEntry(begin + step.path + "/", '5', "", "", 0700);
      default:
        return UstarEntry(begin + step.path, step.kind, "", step.text);
    }
  }

  std::mt19937 random_;
};

TEST(LayerPropertyTest, UnpackedImagesAreAsTheModelSays) {
  int refused_count = 0;
  for (uint32_t seed = 1; seed <= PropertySeedCount(); ++seed) {
    TestImage image;
    Model model;
    const bool is_good = ImageMaker(seed).Make(&image, &model);
    const std::string path = WriteImageFolder("layout", FilesOf(image).files);
    const BundleLimits limits;
    const SteadyTime end = EndOfTime(limits);
    const absl::StatusOr<absl::optional<ImageLayout>> layout =
        ImageLayout::Open(path, TestPath(""), limits, end);
    ASSERT_THAT(layout, IsOk());
    const absl::StatusOr<Image> read = ReadImage(**layout, "", path);
    ASSERT_THAT(read, IsOk());
    const std::string root = TestPath("unpacked");
    const absl::Status status =
        UnpackImage(**layout, *read, root, geteuid(), limits, end);
    if (!is_good) {
      ++refused_count;
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << seed;
      EXPECT_FALSE(std::filesystem::exists(root)) << seed;
      continue;
    }
    ASSERT_THAT(status, IsOk()) << seed;
    ASSERT_EQ(ListFolder(root), model.Lines()) << seed;
    std::filesystem::remove_all(root);
  }
  // The test is worth something only if most images are good.
  EXPECT_GT(refused_count, 0);
  EXPECT_LT(refused_count, static_cast<int>(PropertySeedCount()) / 2);
}

}  // namespace
}  // namespace footprint
