// Tests what own_lines.h promises.

#include "footprint/profiling/runs/own_lines.h"

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// A run of /home/me/train, or of a Python script, whose stacks are given by
// their frames.
class OwnLinesTest : public testing::Test {
 protected:
  OwnLinesTest() { image_.set_executable("/home/me/train"); }

  // Adds a frame and returns its number.
  uint32_t AddFrame(CodeFrame::Kind kind, const char* function,
                    const char* file, int line, const char* module) {
    CodeFrame* const frame = run_.add_frames();
    frame->set_kind(kind);
    frame->set_function(function);
    frame->set_file(file);
    frame->set_line(line);
    frame->set_module(module);
    return static_cast<uint32_t>(run_.frames_size() - 1);
  }
  uint32_t AddOwn(const char* function, int line) {
    return AddFrame(CodeFrame::NATIVE, function, "/home/me/train.cc", line,
                    "/home/me/train");
  }
  uint32_t AddLibrarys(const char* function) {
    return AddFrame(CodeFrame::NATIVE, function, "", 0,
                    "/usr/lib/libopenblas.so");
  }

  // Adds a site with this stack, the outermost frame first.
  void AddSite(const std::vector<uint32_t>& frames, int64_t peak_bytes,
               int64_t allocated_bytes = 0) {
    uint32_t call = 0;
    for (const uint32_t frame : frames) {
      Call* const added = run_.add_calls();
      added->set_parent(call);
      added->set_frame(frame);
      call = static_cast<uint32_t>(run_.calls_size());
    }
    SiteAmounts* const site = image_.add_sites();
    site->set_call(call);
    site->mutable_at_peak()->set_bytes(peak_bytes);
    site->mutable_allocated()->set_bytes(allocated_bytes);
  }

  std::vector<OwnLine> Find() const { return FindOwnLines(run_, image_); }

  MeasuredRun run_;
  MeasuredImage image_;
};

// Two objects of a program may have a function of one name without lines.
TEST_F(OwnLinesTest, EqualLinesKeepTheOrderOfTheRun) {
  const auto add = [this](const char* module) {
    return AddFrame(CodeFrame::NATIVE, "Load", "", 0, module);
  };
  std::vector<std::string> modules;
  for (int i = 0; i < 20; ++i) {
    modules.push_back("/home/me/" + std::to_string(97 * i % 20));
  }
  for (const std::string& module : modules) AddSite({add(module.c_str())}, 10);
  const std::vector<OwnLine> lines = Find();
  ASSERT_EQ(lines.size(), modules.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].frame.module(), modules[i]);
  }
}

TEST_F(OwnLinesTest, BytesCountAtTheInnermostOwnLineAndSayWhatItCalled) {
  const uint32_t main = AddOwn("main", 9);
  const uint32_t fit = AddOwn("Fit", 31);
  const uint32_t solve = AddLibrarys("dgels");
  const uint32_t buffer = AddLibrarys("blas_memory_alloc");
  AddSite({main, fit, solve, buffer}, 100, 1000);
  AddSite({main, fit, solve}, 20, 30);
  AddSite({main}, 7, 8);
  const std::vector<OwnLine> lines = Find();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].frame.function(), "Fit");
  EXPECT_EQ(lines[0].frame.line(), 31);
  EXPECT_EQ(lines[0].called.function(), "dgels");
  EXPECT_EQ(lines[0].at_peak.bytes(), 120);
  EXPECT_EQ(lines[0].allocated.bytes(), 1030);
  EXPECT_EQ(lines[1].frame.function(), "main");
  EXPECT_EQ(lines[1].called.function(), "") << "it allocated by itself";
}

TEST_F(OwnLinesTest, TheCallThatGotMostIsNamed) {
  const uint32_t main = AddOwn("main", 9);
  const uint32_t few = AddLibrarys("few");
  const uint32_t many = AddLibrarys("many");
  AddSite({main, few}, 60);
  AddSite({main, many}, 50);
  AddSite({main, many, few}, 50);
  EXPECT_EQ(Find().at(0).called.function(), "many");
  EXPECT_EQ(Find().at(0).at_peak.bytes(), 160);
}

TEST_F(OwnLinesTest, SourcesOfLibrariesInTheProgramAreNotItsOwn) {
  const uint32_t main = AddOwn("main", 9);
  for (const char* file :
       {"/usr/include/c++/12/bits/new_allocator.h", "external/eigen/Core.h",
        "/b/execroot/x/external/eigen/Core.h", "/usr/lib/gcc/include/x.h",
        "/usr/local/include/y.h", "../sysdeps/x86_64/start.S"}) {
    AddSite({main, AddFrame(CodeFrame::NATIVE, "allocate", file, 137,
                            "/home/me/train")},
            10);
  }
  const std::vector<OwnLine> lines = Find();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].frame.function(), "main");
  EXPECT_EQ(lines[0].at_peak.bytes(), 60);
}

TEST_F(OwnLinesTest, OwnSourcesMayLieAnywhereElse) {
  for (const char* file : {"../src/train.cc", "./train.cc", "train.cc",
                           "/usr/src/app/train.cc", "/build/train.cc"}) {
    AddSite({AddFrame(CodeFrame::NATIVE, "main", file, 7, "/home/me/train")},
            10);
  }
  EXPECT_EQ(Find().size(), 5u);
}

// Code that the C library or the compiler adds to a program is not a line of
// its author.
TEST_F(OwnLinesTest, TheStartOfAProgramIsNoLine) {
  const uint32_t start =
      AddFrame(CodeFrame::NATIVE, "_start", "", 0, "/home/me/train");
  AddSite({start, AddLibrarys("__libc_start_main")}, 10);
  EXPECT_TRUE(Find().empty());
}

TEST_F(OwnLinesTest, WithoutDebugInformationItsFunctionsStandForLines) {
  const uint32_t main =
      AddFrame(CodeFrame::NATIVE, "main", "", 0, "/home/me/train");
  const uint32_t load =
      AddFrame(CodeFrame::NATIVE, "Load", "", 0, "/home/me/train");
  AddSite({main, load, AddLibrarys("inflate")}, 10);
  ASSERT_EQ(Find().size(), 1u);
  EXPECT_EQ(Find()[0].frame.function(), "Load");
  // If an outer frame has a line, that line counts.
  AddSite({AddOwn("Run", 5), load}, 30);
  EXPECT_EQ(Find()[0].frame.function(), "Run");
  EXPECT_EQ(Find()[0].called.function(), "Load");
}

TEST_F(OwnLinesTest, WhatNoOwnLineAskedForIsInNoRow) {
  AddSite({AddLibrarys("_dl_init")}, 10);
  AddSite({}, 10);
  EXPECT_TRUE(Find().empty());
}

TEST_F(OwnLinesTest, LinesWithEquallyManyBytesStandByFileAndLine) {
  for (const char* file : {"/home/me/b.cc", "/home/me/a.cc"}) {
    for (const int line : {7, 3}) {
      AddSite(
          {AddFrame(CodeFrame::NATIVE, "Fit", file, line, "/home/me/train")},
          10);
    }
  }
  std::vector<std::string> places;
  for (const OwnLine& line : Find()) {
    places.push_back(line.frame.file() + ":" +
                     std::to_string(line.frame.line()));
  }
  EXPECT_EQ(places,
            (std::vector<std::string>{"/home/me/a.cc:3", "/home/me/a.cc:7",
                                      "/home/me/b.cc:3", "/home/me/b.cc:7"}));
}

TEST_F(OwnLinesTest, AllocatorsAreNoCallThatIsNamed) {
  AddSite({AddOwn("main", 9), AddFrame(CodeFrame::ALLOCATOR, "operator new", "",
                                       0, "/usr/lib/libstdc++.so.6")},
          10);
  EXPECT_EQ(Find().at(0).called.function(), "");
}

TEST_F(OwnLinesTest, DamagedNumbersDoNoHarm) {
  AddSite({AddOwn("main", 9), 7}, 10);
  for (const uint32_t call : {3, 99}) {
    image_.mutable_sites(0)->set_call(call);
    EXPECT_TRUE(Find().empty());
  }
  image_.mutable_sites(0)->set_call(1);
  EXPECT_EQ(Find().size(), 1u);
  run_.mutable_calls(0)->set_parent(2);
  EXPECT_TRUE(Find().empty()) << "a caller that stands behind what it calls";
}

TEST_F(OwnLinesTest, AScriptsCallsAreThoseOfItsLibrariesNotTheInterpreters) {
  image_.set_executable("/usr/bin/python3.11");
  image_.add_command_line("python3");
  image_.add_command_line("/home/me/train.py");
  const auto python = [this](const char* function, const char* file) {
    return AddFrame(CodeFrame::PYTHON, function, file, 3, file);
  };
  const uint32_t train = python("<module>", "/home/me/train.py");
  const uint32_t evaluate = AddFrame(CodeFrame::INTERPRETER, "PyObject_Call",
                                     "", 0, "/usr/bin/python3.11");
  const uint32_t import =
      python("_find_and_load", "<frozen importlib._bootstrap>");
  const uint32_t numpy = python("<module>", "/usr/lib/python3/numpy/core.py");
  AddSite({evaluate, train, evaluate, import, evaluate, numpy, evaluate}, 10);
  ASSERT_EQ(Find().size(), 1u);
  EXPECT_EQ(Find()[0].frame.file(), "/home/me/train.py");
  EXPECT_EQ(Find()[0].called.file(), "/usr/lib/python3/numpy/core.py");
}

// The script's fit() requested 7 MiB from NumPy, and the script 1 MiB from
// zlib.
TEST(OwnLinesOfRunTest, AScriptsLinesHaveWhatItsLibrariesTook) {
  const MeasuredRun run = FullRun();
  const std::vector<OwnLine> lines = FindOwnLines(run, run.images(0));
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0].frame.kind(), CodeFrame::PYTHON);
  int64_t sum = 0;
  for (const OwnLine& line : lines) {
    EXPECT_EQ(line.frame.kind(), CodeFrame::PYTHON);
    sum += line.at_peak.bytes();
  }
  EXPECT_GE(sum, int64_t{8} << 20);
}

}  // namespace
}  // namespace footprint
