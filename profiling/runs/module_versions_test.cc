#include "footprint/profiling/runs/module_versions.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

namespace fs = std::filesystem;

class ModuleVersionsTest : public testing::Test {
 protected:
  ModuleVersionsTest()
      : folder_(testing::TempDir() + "/" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
  }

  // Makes a file below the test's folder and returns its path.
  std::string File(const std::string& name, const std::string& text = "") {
    const fs::path path = fs::path(folder_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  const std::string folder_;
};

TEST_F(ModuleVersionsTest, PackagesHaveTheVersionOfTheirMetadata) {
  File("dist-packages/numpy-1.24.2.egg-info/top_level.txt", "numpy\n");
  File("dist-packages/scikit_learn-1.2.1.egg-info/top_level.txt", "sklearn\n");
  File("dist-packages/SciPy-1.10.1.dist-info/METADATA");
  File("dist-packages/pandas-1.5.3-py3.11.egg-info/top_level.txt", "pandas");
  EXPECT_THAT(
      ModuleVersions(
          {File("dist-packages/sklearn/_build/openmp.cpython-311.so"),
           File("dist-packages/sklearn/second.so"),
           File("dist-packages/numpy/core/umath.so"),
           File("dist-packages/scipy.libs/libgfortran.so")}),
      ElementsAre("numpy 1.24.2", "scikit-learn 1.2.1", "scipy 1.10.1"));
}

TEST_F(ModuleVersionsTest, LibrariesHaveTheVersionOfTheFileItself) {
  const std::string real = File("libopenblasp-r0.3.21.so");
  const std::string link = folder_ + "/libblas.so.3";
  fs::remove(link);
  fs::create_symlink(real, link);
  EXPECT_THAT(ModuleVersions({link, File("libc.so.6"), File("libz.so.1.2.13")}),
              ElementsAre("libopenblasp-r0.3.21.so", "libz.so.1.2.13"));
}

TEST_F(ModuleVersionsTest, WhatHasNoVersionOrIsGoneIsLeftOut) {
  EXPECT_THAT(ModuleVersions({}), IsEmpty());
  EXPECT_THAT(ModuleVersions({folder_ + "/gone-1.2.so",
                              folder_ + "/site-packages/gone/gone.so",
                              File("site-packages/plain/module.so")}),
              IsEmpty());
}

// The result has the package's version, and not that of a library which it
// contains.
TEST_F(ModuleVersionsTest, APackagesLibraryHasNoVersionOfItsOwn) {
  File("dist-packages/scipy-1.10.1.dist-info/METADATA");
  EXPECT_THAT(
      ModuleVersions({File("dist-packages/scipy/libgfortran.so.5.0.0")}),
      ElementsAre("scipy 1.10.1"));
}

}  // namespace
}  // namespace footprint
