#include "footprint/profiling/stages/data_file_kinds.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

TEST(IsDataFileTest, TheLastPartOfANameTells) {
  for (const char* path :
       {"train.csv", "/data/x.y/model.safetensors", "a.CSV", "b.Parquet",
        "rows.csv.gz", "rows.jsonl.ZST", "../w.h5", "a.b.npy", "x.bin"}) {
    EXPECT_TRUE(IsDataFile(path)) << path;
  }
  for (const char* path : {"", "csv", ".csv", "/data/.csv", "/train.csv/part",
                           "a.csvx", "a.cs", "a.csv.", "x.tar.gz", "x.gz",
                           ".csv.gz", "gz", "/etc/passwd", "a.py", "a.csv/"}) {
    EXPECT_FALSE(IsDataFile(path)) << path;
  }
}

TEST(IsDataFileTest, EveryKindIsFound) {
  for (const char* kind : kDataFileKinds) {
    EXPECT_TRUE(IsDataFile((std::string("x.") + kind).c_str())) << kind;
    EXPECT_FALSE(IsDataFile(kind)) << kind;
    for (const char* compressed : kCompressedKinds) {
      EXPECT_TRUE(
          IsDataFile((std::string("x.") + kind + "." + compressed).c_str()));
    }
  }
}

}  // namespace
}  // namespace footprint::profiling_internal
