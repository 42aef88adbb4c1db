#include "footprint/profiling/runs/native_calls.h"

#include <dlfcn.h>

#include <string>
#include <vector>

#include "footprint/profiling/records/call_tree.h"
#include "footprint/profiling/records/python_codes.h"
#include "footprint/profiling/runs/call_forest.h"
#include "footprint/profiling/symbols/symbolizer.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr char kSample[] = "profiling/symbols/inlined_sample.so";

// Returns a return address in an inlined function of the library.
uint64_t AddressInSample() {
  void* const library = dlopen(kSample, RTLD_NOW);
  if (library == nullptr) return 0;
  const auto address_in_sample =
      reinterpret_cast<uintptr_t (*)()>(dlsym(library, "AddressInSample"));
  const uintptr_t address = address_in_sample();
  Dl_info info;
  dladdr(reinterpret_cast<void*>(address), &info);
  return address - reinterpret_cast<uintptr_t>(info.dli_fbase);
}

// Returns the names of a call and those around it, innermost first.
std::vector<std::string> Stack(const MeasuredRun& run, uint32_t call) {
  std::vector<std::string> names;
  for (; call != 0; call = run.calls(static_cast<int>(call) - 1).parent()) {
    const uint32_t frame = run.calls(static_cast<int>(call) - 1).frame();
    names.push_back(run.frames(static_cast<int>(frame)).function());
  }
  return names;
}

class NativeCallsTest : public testing::Test {
 protected:
  uint32_t FindCall(int node) {
    return NativeCalls(tree_.modules, tree_.nodes, &symbolizer_, &forest_)
        .FindCall(node);
  }

  CallTree tree_;
  Symbolizer symbolizer_;
  MeasuredRun run_;
  CallForest forest_{&run_};
};

TEST_F(NativeCallsTest, InlinedFunctionsAreCallsOfTheirOwn) {
  tree_.modules = {{"/no/such/program", "ab0c", 0}, {kSample, "", 0}};
  tree_.nodes = {{CallTree::kNone, 0, 0x1234}, {0, 1, AddressInSample()}};
  const std::vector<std::string> names = Stack(run_, FindCall(1));
  ASSERT_EQ(names.size(), 3u);
  EXPECT_NE(names[0].find("AddressInInlined"), std::string::npos);
  EXPECT_NE(names[1].find("AddressInFunction"), std::string::npos);
  EXPECT_EQ(names[2], "program+0x1234");
  EXPECT_TRUE(run_.frames(1).is_inlined());
  EXPECT_FALSE(run_.frames(2).is_inlined());
  EXPECT_EQ(run_.frames(2).module(), kSample);
  EXPECT_GT(run_.frames(2).line(), 0);
}

// A reader that has the symbols can find the name later.
TEST_F(NativeCallsTest, WithoutASymbolTheAddressAndTheBuildStay) {
  tree_.modules = {{"/no/such/program", "ab0c", 0}};
  tree_.nodes = {{CallTree::kNone, 0, 0x1234}};
  FindCall(0);
  ASSERT_EQ(run_.frames_size(), 1);
  EXPECT_EQ(run_.frames(0).address(), 0x1234u);
  EXPECT_EQ(run_.frames(0).build_id(), "ab0c");
  EXPECT_EQ(run_.frames(0).module(), "/no/such/program");
}

TEST_F(NativeCallsTest, TheAgentsOwnFramesAreLeftOut) {
  tree_.modules = {{"/bin/program", "", 0}, {"/tmp/memprof-1/agent.so", "", 0}};
  tree_.nodes = {{CallTree::kNone, 0, 1}, {0, 1, 2}, {1, 0, 3}};
  EXPECT_EQ(FindCall(1), FindCall(0));
  EXPECT_EQ(Stack(run_, FindCall(2)),
            (std::vector<std::string>{"program+0x3", "program+0x1"}));
}

TEST_F(NativeCallsTest, CodeOfNoFileIsUnknown) {
  tree_.nodes = {{CallTree::kNone, CallTree::kNone, 0x7f00}};
  EXPECT_EQ(FindCall(CallTree::kNone), 0u);
  FindCall(0);
  EXPECT_EQ(run_.frames(0).kind(), CodeFrame::UNKNOWN);
}

// A call of Python code has its line, and the interpreter's own functions that
// it calls serve it.
TEST_F(NativeCallsTest, PythonCallsHaveTheirLines) {
  tree_.modules = {{"/usr/bin/python3", "", 0, 0x4000},
                   {"/lib/numpy.so", "", 0, 0x9000}};
  CallTree::Node python;
  python.parent = 0;
  python.python_code = 0;
  python.python_instruction = 1;
  CallTree::Node lost = python;
  lost.python_code = 7;
  tree_.nodes = {
      {CallTree::kNone, 0, 0x10}, python, {1, 0, 0x10}, {2, 1, 0x20}, lost};
  PythonCodes codes;
  codes.module_begin_address = 0x4000;
  // One code unit is on line 3, and one on line 5.
  codes.codes = {{"/home/train.py", "Model.fit", "\x80\x01\xe0\x01\x01", 3}};
  NativeCalls calls(tree_.modules, tree_.nodes, &symbolizer_, &forest_, &codes);
  EXPECT_EQ(Stack(run_, calls.FindCall(3)),
            (std::vector<std::string>{"numpy.so+0x20", "python3+0x10",
                                      "Model.fit", "python3+0x10"}));
  EXPECT_EQ(run_.frames(0).kind(), CodeFrame::NATIVE);
  const CodeFrame& line = run_.frames(1);
  EXPECT_EQ(line.kind(), CodeFrame::PYTHON);
  EXPECT_EQ(line.file(), "/home/train.py");
  EXPECT_EQ(line.line(), 5);
  EXPECT_EQ(run_.frames(2).kind(), CodeFrame::INTERPRETER);
  EXPECT_EQ(run_.frames(3).kind(), CodeFrame::NATIVE);
  EXPECT_EQ(Stack(run_, calls.FindCall(4))[0], "[a Python function]");
}

// A recursion of any depth must not crash the reader.
TEST_F(NativeCallsTest, StacksMayBeDeep) {
  tree_.modules = {{"/bin/program", "", 0}};
  for (int i = 0; i < 200'000; ++i) {
    tree_.nodes.push_back({i - 1, 0, static_cast<uint64_t>(i % 7)});
  }
  EXPECT_EQ(Stack(run_, FindCall(199'999)).size(), 200'000u);
  EXPECT_EQ(run_.frames_size(), 7);
}

}  // namespace
}  // namespace footprint
