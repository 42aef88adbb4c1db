// Tests of the promises of code_owner.h.

#include "footprint/profiling/runs/code_owner.h"

#include "footprint/profiling/example_runs/example_runs.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMiB = 1 << 20;

CodeFrame Frame(CodeFrame::Kind kind, const char* file, const char* module) {
  CodeFrame frame;
  frame.set_kind(kind);
  frame.set_function("Function");
  frame.set_file(file);
  frame.set_module(module);
  return frame;
}

MeasuredImage Image(const char* executable) {
  MeasuredImage image;
  image.set_executable(executable);
  return image;
}

TEST(CodeOwnerTest, TellsCodeApart) {
  const MeasuredImage train = Image("/home/me/train");
  const MeasuredImage python = Image("/usr/bin/python3.11");
  const auto native = [](const char* module) {
    return Frame(CodeFrame::NATIVE, "", module);
  };
  const auto script = [](const char* file) {
    return Frame(CodeFrame::PYTHON, file, file);
  };
  EXPECT_EQ(OwnerOf(native("/home/me/train"), train), CodeOwner::kProgram);
  EXPECT_EQ(OwnerOf(native("/home/me/libmine.so"), train), CodeOwner::kProgram);
  EXPECT_EQ(OwnerOf(native("/usr/lib/libopenblas.so"), train),
            CodeOwner::kLibraries);
  EXPECT_EQ(OwnerOf(native("/lib/x86_64-linux-gnu/libc.so.6"), train),
            CodeOwner::kLibraries);
  EXPECT_EQ(OwnerOf(native("/usr/bin/g++"), Image("/usr/bin/g++")),
            CodeOwner::kProgram);
  EXPECT_EQ(OwnerOf(native("/usr/local/bin/serve"), train), CodeOwner::kProgram)
      << "an administrator's own, not a package's";
  EXPECT_EQ(OwnerOf(native(""), train), CodeOwner::kUnknown);
  EXPECT_EQ(OwnerOf(native("/usr/bin/python3.11"), python),
            CodeOwner::kInterpreter);
  EXPECT_EQ(OwnerOf(native("/usr/lib/libpython3.11.so.1"), python),
            CodeOwner::kInterpreter);
  EXPECT_EQ(OwnerOf(script("train.py"), python), CodeOwner::kProgram);
  EXPECT_EQ(OwnerOf(script("<string>"), python), CodeOwner::kProgram);
  EXPECT_EQ(OwnerOf(script("/usr/lib/python3.11/json/decoder.py"), python),
            CodeOwner::kLibraries);
  EXPECT_EQ(
      OwnerOf(script("/home/me/v/lib/python3.11/site-packages/x.py"), python),
      CodeOwner::kLibraries);
  EXPECT_EQ(OwnerOf(script("<frozen importlib._bootstrap>"), python),
            CodeOwner::kLibraries);
  EXPECT_EQ(OwnerOf(Frame(CodeFrame::ALLOCATOR, "", "/home/me/train"), train),
            CodeOwner::kAllocation);
  EXPECT_EQ(OwnerOf(Frame(CodeFrame::UNKNOWN, "", ""), train),
            CodeOwner::kUnknown);
}

// Of 12 MiB: 7 that fit() asked NumPy for and 1 that the script asked zlib for;
// 2 while NumPy was imported; 1 of the interpreter; 1 before the record began.
TEST(CodeOwnerTest, TellsWhoseDataThePeakIs) {
  const MeasuredRun run = FullRun();
  const PeakShares shares = PeakSharesOf(run, run.images(0));
  EXPECT_TRUE(shares.are_known);
  EXPECT_EQ(shares.program_bytes, 8 * kMiB);
  EXPECT_EQ(shares.libraries_bytes, 2 * kMiB);
  EXPECT_EQ(shares.interpreter_bytes, kMiB);
  EXPECT_EQ(shares.unknown_bytes, kMiB);
}

// Of what nobody of the program asked for: a library that the interpreter calls
// has it, not the interpreter.
TEST(CodeOwnerTest, ALibraryBelowTheInterpreterHasItsOwn) {
  MeasuredRun run;
  *run.add_frames() =
      Frame(CodeFrame::NATIVE, "", "/usr/lib/libpython3.11.so.1");
  *run.add_frames() = Frame(CodeFrame::NATIVE, "", "/usr/lib/libz.so.1");
  *run.add_frames() = Frame(CodeFrame::PYTHON, "train.py", "train.py");
  run.add_calls()->set_frame(0);
  Call* const library = run.add_calls();
  library->set_frame(1);
  library->set_parent(1);
  *run.add_images() = Image("/usr/bin/python3.11");
  MeasuredImage* const image = run.mutable_images(0);
  image->set_has_sites(true);
  for (const uint32_t call : {1u, 2u}) {
    SiteAmounts* const site = image->add_sites();
    site->set_call(call);
    site->mutable_at_peak()->set_bytes(call == 1 ? 3 : 5);
  }
  const PeakShares shares = PeakSharesOf(run, *image);
  EXPECT_EQ(shares.interpreter_bytes, 3);
  EXPECT_EQ(shares.libraries_bytes, 5);
}

TEST(CodeOwnerTest, KnowsNothingWithoutTheProgramsCalls) {
  MeasuredRun run = FullRun();
  for (CodeFrame& frame : *run.mutable_frames()) {
    if (frame.kind() == CodeFrame::PYTHON) frame.set_kind(CodeFrame::NATIVE);
  }
  EXPECT_FALSE(PeakSharesOf(run, run.images(0)).are_known);
  run = FullRun();
  run.mutable_images(0)->set_has_sites(false);
  EXPECT_FALSE(PeakSharesOf(run, run.images(0)).are_known);
}

// Python's import is known by the file or by the module, whichever is told.
TEST(CodeOwnerTest, AnImportIsTheLibrarysByItsFileOrItsModule) {
  for (const bool has_file : {true, false}) {
    MeasuredRun run = FullRun();
    (has_file ? run.mutable_frames(5)->mutable_module()
              : run.mutable_frames(5)->mutable_file())
        ->clear();
    EXPECT_EQ(PeakSharesOf(run, run.images(0)).libraries_bytes, 2 * kMiB);
    EXPECT_EQ(PeakSharesOf(run, run.images(0)).program_bytes, 8 * kMiB);
  }
}

}  // namespace
}  // namespace footprint
