#include "footprint/gates/judge/environment_difference.h"

#include <string>

#include "footprint/profiling/schema/memory_profile.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

Environment Debian() {
  Environment environment;
  environment.set_allocator("jemalloc 5.3.0");
  environment.set_page_size_bytes(4096);
  environment.set_compiler("gcc 12.2.0");
  return environment;
}

// This test covers a field that is added to the schema without being changed.
TEST(EnvironmentDifferenceTest, EveryFieldCounts) {
  const auto* descriptor = Environment::descriptor();
  EXPECT_EQ(CountDifferences(Debian(), Debian()), 0);
  for (int i = 0; i < descriptor->field_count(); ++i) {
    Environment other = Debian();
    const auto* field = descriptor->field(i);
    if (field->cpp_type() ==
        google::protobuf::FieldDescriptor::CPPTYPE_STRING) {
      other.GetReflection()->SetString(&other, field, "other");
    } else {
      other.GetReflection()->SetInt64(&other, field, 65536);
    }
    EXPECT_EQ(CountDifferences(Debian(), other), 1) << i;
    EXPECT_EQ(CountDifferences(other, Debian()), 1) << i;
  }
}

TEST(EnvironmentDifferenceTest, NamesFieldsAndBothValues) {
  Environment other = Debian();
  other.set_compiler("gcc 13.1");
  EXPECT_EQ(DescribeDifference(other, Debian()),
            "compiler is \"gcc 13.1\", not \"gcc 12.2.0\"");
  other.set_page_size_bytes(16384);
  EXPECT_EQ(DescribeDifference(other, Debian()),
            "page_size_bytes is \"16384\", not \"4096\", compiler is \"gcc "
            "13.1\", not \"gcc 12.2.0\"");
}

TEST(EnvironmentDifferenceTest, NamesAFileBesideTheOther) {
  Environment other = Debian();
  other.set_compiler("GCC (Debian) 13.1");
  EXPECT_EQ(PathForEnvironment("t/tabular.debian12.textproto", other, Debian()),
            "t/tabular.gcc-debian-13.1.textproto");
  EXPECT_EQ(PathForEnvironment("tabular.textproto", other, Debian()),
            "tabular.gcc-debian-13.1.textproto");
  other = Debian();
  other.clear_allocator();
  EXPECT_EQ(PathForEnvironment("a.b/tabular.textproto", other, Debian()),
            "a.b/tabular.none.textproto");
}

}  // namespace
}  // namespace footprint
