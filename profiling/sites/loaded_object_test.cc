#include "footprint/profiling/sites/loaded_object.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

ModuleRecord Described(void* code, dl_find_object* found) {
  ModuleRecord module;
  std::memset(&module, 0, sizeof(module));
  EXPECT_EQ(_dl_find_object(code, found), 0);
  DescribeLoadedObject(*found, &module);
  return module;
}

int OwnCode() { return 1; }

void* const kOwnCode = reinterpret_cast<void*>(OwnCode);
void* const kLibraryCode = reinterpret_cast<void*>(&qsort);

TEST(LoadedObjectTest, TellsALibrarysPathAndAddresses) {
  dl_find_object found;
  const ModuleRecord module = Described(kLibraryCode, &found);
  Dl_info info;
  ASSERT_NE(dladdr(kLibraryCode, &info), 0);
  EXPECT_STREQ(module.path, info.dli_fname);
  const auto code = reinterpret_cast<uintptr_t>(kLibraryCode);
  EXPECT_LE(module.begin_address, code);
  EXPECT_GT(module.end_address, code);
  EXPECT_EQ(module.load_bias, reinterpret_cast<uintptr_t>(info.dli_fbase));
  // Debian's libraries have a build ID.
  EXPECT_GT(module.build_id_size, 0u);
  EXPECT_LE(module.build_id_size, sizeof(module.build_id));
}

TEST(LoadedObjectTest, NamesTheProgramItself) {
  dl_find_object found;
  const ModuleRecord module = Described(kOwnCode, &found);
  char path[448] = {};
  ASSERT_GT(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
  EXPECT_STREQ(module.path, path);
  EXPECT_TRUE(IsLoadedObject(module, found));
}

TEST(LoadedObjectTest, AnotherObjectAtTheAddressesIsNotTheRecordedOne) {
  dl_find_object found;
  const ModuleRecord recorded = Described(kLibraryCode, &found);
  EXPECT_TRUE(IsLoadedObject(recorded, found));
  ModuleRecord other = recorded;
  other.path[0] ^= 1;
  EXPECT_FALSE(IsLoadedObject(other, found));
  other = recorded;
  other.build_id[0] ^= 1;
  EXPECT_FALSE(IsLoadedObject(other, found));
  other = recorded;
  other.build_id_size = 0;
  EXPECT_FALSE(IsLoadedObject(other, found));
  other = recorded;
  ++other.begin_address;
  EXPECT_FALSE(IsLoadedObject(other, found));
  other = recorded;
  ++other.end_address;
  EXPECT_FALSE(IsLoadedObject(other, found));
  other = recorded;
  ++other.load_bias;
  EXPECT_FALSE(IsLoadedObject(other, found));
}

}  // namespace
}  // namespace footprint::profiling_internal
