#include "footprint/profiling/python/object_memory.h"

#include <cstdint>
#include <cstring>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

uintptr_t ToAddress(const void* place) {
  return reinterpret_cast<uintptr_t>(place);
}

TEST(ObjectMemoryTest, LoadsWhatLiesThere) {
  const unsigned char bytes[] = {0, 0x78, 0x56, 0x34, 0x12};
  uint32_t expected = 0;
  std::memcpy(&expected, bytes + 1, sizeof(expected));
  EXPECT_EQ(LoadAs<uint32_t>(ToAddress(bytes) + 1), expected);
}

TEST(ObjectMemoryTest, RefusesAddressesThatNoObjectCanHave) {
  EXPECT_FALSE(MayBeObject(0));
  EXPECT_FALSE(MayBeObject(4088));
  EXPECT_FALSE(MayBeObject(4096 + 4));
  EXPECT_FALSE(MayBeObject(uintptr_t{1} << 47));
  EXPECT_TRUE(MayBeObject(4096));
  EXPECT_TRUE(MayBeObject((uintptr_t{1} << 47) - sizeof(void*)));
}

TEST(ObjectMemoryTest, KnowsAnObjectByItsType) {
  // CPython's objects begin with a count of references, followed by the type.
  struct {
    int64_t references = 1;
    uintptr_t type = 0x5000;
  } const object;
  static_assert(sizeof(object) == kObjectType + sizeof(uintptr_t));
  EXPECT_TRUE(IsObjectOfType(ToAddress(&object), 0x5000));
  EXPECT_FALSE(IsObjectOfType(ToAddress(&object), 0x6000));
  EXPECT_FALSE(IsObjectOfType(8, 0x5000));
}

}  // namespace
}  // namespace footprint::profiling_internal
