#include "footprint/profiling/symbols/symbolizer.h"

#include <dlfcn.h>
#include <malloc.h>

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr char kSample[] = "profiling/symbols/inlined_sample.so";

// Returns an address in the library, as in its file: the one that its function
// of this name returns.
uint64_t AddressInSample(const char* function = "AddressInSample") {
  void* const library = dlopen(kSample, RTLD_NOW);
  if (library == nullptr) return 0;
  const auto address_in_sample =
      reinterpret_cast<uintptr_t (*)()>(dlsym(library, function));
  const uintptr_t address = address_in_sample();
  Dl_info info;
  dladdr(reinterpret_cast<void*>(address), &info);
  // The address is that of the next instruction.
  return address - 1 - reinterpret_cast<uintptr_t>(info.dli_fbase);
}

TEST(SymbolizerTest, FindsAFunctionWithWhatWasInlinedIntoIt) {
  Symbolizer symbolizer;
  const Symbolizer::Object sample = {kSample, ""};
  ASSERT_EQ(symbolizer.FindInformation(sample),
            Symbolizer::Information::kLines);
  const auto frames = symbolizer.Find(sample, AddressInSample());
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_TRUE(frames[0].is_inlined);
  EXPECT_NE(frames[0].function.find("AddressInInlined"), std::string::npos);
  EXPECT_NE(frames[0].file.find("inlined_sample.cc"), std::string::npos);
  EXPECT_FALSE(frames[1].is_inlined);
  EXPECT_EQ(frames[1].function,
            "footprint::(anonymous namespace)::"
            "AddressInFunction()");
  EXPECT_LT(frames[0].line, frames[1].line);
  EXPECT_GT(frames[0].line, 0);
}

// A demangler takes a short name such as "f" for a type.
TEST(SymbolizerTest, ACFunctionKeepsItsName) {
  Symbolizer symbolizer;
  const auto frames = symbolizer.Find({kSample, ""}, AddressInSample("f"));
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "f");
}

TEST(SymbolizerTest, TheSameAddressGivesTheSameFrames) {
  Symbolizer symbolizer;
  const uint64_t address = AddressInSample();
  const auto first = symbolizer.Find({kSample, ""}, address);
  const auto again = symbolizer.Find({kSample, ""}, address);
  EXPECT_EQ(first.data(), again.data());
}

TEST(SymbolizerTest, AnAddressOfNothingHasNoFrames) {
  Symbolizer symbolizer;
  EXPECT_TRUE(symbolizer.Find({kSample, ""}, 1).empty());
}

TEST(SymbolizerTest, AnObjectThatIsGoneHasNoFrames) {
  Symbolizer symbolizer;
  const Symbolizer::Object gone = {"/no/such/object", ""};
  EXPECT_EQ(symbolizer.FindInformation(gone), Symbolizer::Information::kNone);
  EXPECT_TRUE(symbolizer.Find(gone, 4096).empty());
}

TEST(SymbolizerTest, AFileThatIsNoObjectHasNoFrames) {
  Symbolizer symbolizer;
  EXPECT_TRUE(symbolizer.Find({"/etc/passwd", ""}, 4096).empty());
}

// Another build has its functions at other addresses.
TEST(SymbolizerTest, AnotherBuildOfTheObjectIsNotAsked) {
  Symbolizer symbolizer;
  const Symbolizer::Object other = {kSample, "00ff"};
  EXPECT_EQ(symbolizer.FindInformation(other),
            Symbolizer::Information::kOtherBuild);
  EXPECT_TRUE(symbolizer.Find(other, AddressInSample()).empty());
}

// A server would learn which programs are measured.
TEST(SymbolizerTest, NoServerIsAskedForDebugInformation) {
  constexpr char kStandIn[] = "profiling/symbols/debuginfod_stand_in.so";
  void* const library = dlopen(kStandIn, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto times_asked =
      reinterpret_cast<int (*)()>(dlsym(library, "TimesAsked"));
  setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", /*overwrite=*/1);
  Symbolizer symbolizer;
  EXPECT_EQ(symbolizer.FindInformation({kStandIn, ""}),
            Symbolizer::Information::kSymbols);
  EXPECT_EQ(times_asked(), 0);
  unsetenv("DEBUGINFOD_URLS");
}

// Returns the allocator's own count of live bytes. A sanitizer replaces the
// allocator; then it counts nothing, and the sanitizer finds leaks.
size_t HeldBytes() { return mallinfo2().uordblks; }

TEST(SymbolizerTest, GivesAllItsMemoryBack) {
  const uint64_t address = AddressInSample();
  const auto look = [address] {
    Symbolizer symbolizer;
    for (uint64_t i = 0; i < 32; ++i)
      symbolizer.Find({kSample, ""}, address + i);
  };
  for (int i = 0; i < 3; ++i) look();
  const size_t before = HeldBytes();
  for (int i = 0; i < 200; ++i) look();
  EXPECT_LT(HeldBytes(), before + 20'000);
}

}  // namespace
}  // namespace footprint
