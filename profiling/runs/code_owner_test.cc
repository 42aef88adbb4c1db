// Tests what code_owner.h promises.

#include "footprint/profiling/runs/code_owner.h"

#include <string>
#include <vector>

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
  EXPECT_EQ(FindOwner(native("/home/me/train"), train), CodeOwner::kProgram);
  EXPECT_EQ(FindOwner(native("/home/me/libmine.so"), train),
            CodeOwner::kProgram);
  EXPECT_EQ(FindOwner(native("/usr/lib/libopenblas.so"), train),
            CodeOwner::kLibraries);
  EXPECT_EQ(FindOwner(native("/lib/x86_64-linux-gnu/libc.so.6"), train),
            CodeOwner::kLibraries);
  EXPECT_EQ(FindOwner(native("/usr/bin/g++"), Image("/usr/bin/g++")),
            CodeOwner::kProgram);
  EXPECT_EQ(FindOwner(native("/usr/local/bin/serve"), train),
            CodeOwner::kProgram)
      << "an administrator's own, not a package's";
  EXPECT_EQ(FindOwner(native(""), train), CodeOwner::kUnknown);
  EXPECT_EQ(FindOwner(native("/usr/bin/python3.11"), python),
            CodeOwner::kInterpreter);
  EXPECT_EQ(FindOwner(native("/usr/lib/libpython3.11.so.1"), python),
            CodeOwner::kInterpreter);
  EXPECT_EQ(FindOwner(script("train.py"), python), CodeOwner::kProgram);
  EXPECT_EQ(FindOwner(script("<string>"), python), CodeOwner::kProgram);
  EXPECT_EQ(FindOwner(script("/usr/lib/python3.11/json/decoder.py"), python),
            CodeOwner::kLibraries);
  EXPECT_EQ(
      FindOwner(script("/home/me/v/lib/python3.11/site-packages/x.py"), python),
      CodeOwner::kLibraries);
  EXPECT_EQ(FindOwner(script("<frozen importlib._bootstrap>"), python),
            CodeOwner::kLibraries);
  EXPECT_EQ(FindOwner(Frame(CodeFrame::ALLOCATOR, "", "/home/me/train"), train),
            CodeOwner::kAllocation);
  EXPECT_EQ(FindOwner(Frame(CodeFrame::UNKNOWN, "", ""), train),
            CodeOwner::kUnknown);
}

// Returns an image of Python with these arguments.
MeasuredImage Python(const std::vector<std::string>& arguments) {
  MeasuredImage image = Image("/usr/bin/python3.11");
  image.add_command_line("python3");
  for (const std::string& each : arguments) image.add_command_line(each);
  return image;
}

TEST(CodeOwnerTest, CodeFromATextIsTheProgramsOnlyIfTheProgramIsAText) {
  const CodeFrame text = Frame(CodeFrame::PYTHON, "<string>", "<string>");
  EXPECT_EQ(FindOwner(text, Python({"-c", "pass"})), CodeOwner::kProgram);
  EXPECT_EQ(FindOwner(text, Python({"train.py"})), CodeOwner::kLibraries);
}

CodeOwner OwnerOfScript(const char* file, const MeasuredImage& image) {
  return FindOwner(Frame(CodeFrame::PYTHON, file, file), image);
}

TEST(CodeOwnerTest, FoldersOfContainersHoldPrograms) {
  const MeasuredImage python = Python({"-m", "app"});
  for (const char* file :
       {"/usr/src/app/main.py", "/opt/app/main.py", "/srv/app/model.py",
        "/usr/local/bin/serve", "/app/src/model.py", "/opt/app/lib/model.py",
        "/usr/src/app/lib/model.py"}) {
    EXPECT_EQ(OwnerOfScript(file, python), CodeOwner::kProgram) << file;
  }
  for (const char* file :
       {"/opt/conda/lib/python3.11/json/decoder.py",
        "/opt/venv/lib/python3.11/site-packages/numpy/core.py",
        "/usr/local/lib/python3.11/typing.py", "/usr/share/tool/x.py"}) {
    EXPECT_EQ(OwnerOfScript(file, python), CodeOwner::kLibraries) << file;
  }
  for (const char* object :
       {"/opt/intel/lib/libmkl.so", "/usr/local/cuda/lib64/libcudart.so"}) {
    EXPECT_EQ(FindOwner(Frame(CodeFrame::NATIVE, "", object), python),
              CodeOwner::kLibraries);
  }
}

TEST(CodeOwnerTest, TheScriptOfTheCommandLineIsTheProgram) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{
           {"/usr/share/tool/main.py", "-c"},
           {"-u", "-X", "importtime", "-W", "ignore", "-Wonce", "-Xdev",
            "--check-hash-based-pycs", "never", "/usr/share/tool/main.py"}}) {
    const MeasuredImage tool = Python(arguments);
    EXPECT_EQ(OwnerOfScript("/usr/share/tool/main.py", tool),
              CodeOwner::kProgram);
    EXPECT_EQ(OwnerOfScript("/usr/share/tool/parts/a.py", tool),
              CodeOwner::kProgram);
    EXPECT_EQ(FindOwner(Frame(CodeFrame::NATIVE, "", "/usr/share/tool/fast.so"),
                        tool),
              CodeOwner::kProgram);
    EXPECT_EQ(OwnerOfScript("/usr/share/other/a.py", tool),
              CodeOwner::kLibraries);
    EXPECT_EQ(
        OwnerOfScript("/usr/share/tool/venv/lib/python3.11/site-packages/x.py",
                      tool),
        CodeOwner::kLibraries);
  }
}

TEST(CodeOwnerTest, WithoutAScriptNoFolderIsThePrograms) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"-c", "/usr/share/tool/main.py"},
                                             {"-m", "/usr/share/tool/main.py"},
                                             {"-Ic", "/usr/share/tool/main.py"},
                                             {"-", "/usr/share/tool/main.py"},
                                             {"main.py"},
                                             {}}) {
    EXPECT_EQ(OwnerOfScript("/usr/share/tool/main.py", Python(arguments)),
              CodeOwner::kLibraries);
  }
}

TEST(CodeOwnerTest, AScriptOfTheStandardLibraryIsAlone) {
  const MeasuredImage timeit = Python({"/usr/lib/python3.11/timeit.py"});
  EXPECT_EQ(OwnerOfScript("/usr/lib/python3.11/timeit.py", timeit),
            CodeOwner::kProgram);
  EXPECT_EQ(OwnerOfScript("/usr/lib/python3.11/json/decoder.py", timeit),
            CodeOwner::kLibraries);
}

TEST(CodeOwnerTest, AnExecutablesFolderIsItsOwn) {
  const MeasuredImage serve = Image("/opt/serve/serve");
  EXPECT_EQ(FindOwner(Frame(CodeFrame::NATIVE, "", "/opt/serve/lib/libmine.so"),
                      serve),
            CodeOwner::kProgram);
  EXPECT_EQ(
      FindOwner(Frame(CodeFrame::NATIVE, "", "/opt/other/lib/libz.so"), serve),
      CodeOwner::kLibraries);
}

// The peak has 12 MiB: fit() requested 7 from NumPy and the script 1 from zlib;
// 2 were allocated while NumPy was imported, 1 by the interpreter, and 1 before
// the record began.
TEST(CodeOwnerTest, TellsWhoseDataThePeakIs) {
  const MeasuredRun run = FullRun();
  const PeakShares shares = ComputePeakShares(run, run.images(0));
  EXPECT_TRUE(shares.are_known);
  EXPECT_EQ(shares.program_bytes, 8 * kMiB);
  EXPECT_EQ(shares.libraries_bytes, 2 * kMiB);
  EXPECT_EQ(shares.interpreter_bytes, kMiB);
  EXPECT_EQ(shares.unknown_bytes, kMiB);
}

// No code of the program requested it, so it belongs to the library that the
// interpreter calls, not to the interpreter.
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
  const PeakShares shares = ComputePeakShares(run, *image);
  EXPECT_EQ(shares.interpreter_bytes, 3);
  EXPECT_EQ(shares.libraries_bytes, 5);
}

TEST(CodeOwnerTest, KnowsNothingWithoutTheProgramsCalls) {
  MeasuredRun run = FullRun();
  for (CodeFrame& frame : *run.mutable_frames()) {
    if (frame.kind() == CodeFrame::PYTHON) frame.set_kind(CodeFrame::NATIVE);
  }
  EXPECT_FALSE(ComputePeakShares(run, run.images(0)).are_known);
  run = FullRun();
  run.mutable_images(0)->set_has_sites(false);
  EXPECT_FALSE(ComputePeakShares(run, run.images(0)).are_known);
}

// The file or the module identifies Python's import, whichever is known.
TEST(CodeOwnerTest, AnImportIsTheLibrarysByItsFileOrItsModule) {
  for (const bool has_file : {true, false}) {
    MeasuredRun run = FullRun();
    (has_file ? run.mutable_frames(5)->mutable_module()
              : run.mutable_frames(5)->mutable_file())
        ->clear();
    EXPECT_EQ(ComputePeakShares(run, run.images(0)).libraries_bytes, 2 * kMiB);
    EXPECT_EQ(ComputePeakShares(run, run.images(0)).program_bytes, 8 * kMiB);
  }
}

}  // namespace
}  // namespace footprint
