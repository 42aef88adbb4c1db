#include "footprint/profiling/records/call_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/call_tree_record.h"
#include "footprint/profiling/records/python_record.h"
#include "footprint/profiling/records/record_file_reader.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using profiling_internal::CallNode;
using profiling_internal::CallTreeRecord;
using profiling_internal::kInstructionBits;
using profiling_internal::kInterpretedCall;
using profiling_internal::kInterpretedModule;
using profiling_internal::kMaxCallNodes;
using profiling_internal::kNoModule;
using profiling_internal::ModuleRecord;

// The tree's offset in the file.
constexpr size_t kTreeAt = 4096;

// Tests a sparse file with a tree of one module and two calls.
class CallTreeTest : public testing::Test {
 protected:
  CallTreeTest()
      : path_(testing::TempDir() + "/x.tree"),
        file_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600)) {
    EXPECT_EQ(ftruncate(file_, kTreeAt + sizeof(CallTreeRecord)), 0);
    Set(offsetof(CallTreeRecord, module_count), uint32_t{1});
    Set(offsetof(CallTreeRecord, node_count), uint32_t{3});
    ModuleRecord module = {};
    module.load_bias = 0x1000;
    module.build_id_size = 2;
    module.build_id[0] = 0xab;
    module.build_id[1] = 0x0c;
    std::strcpy(module.path, "/lib/libx.so");
    Set(offsetof(CallTreeRecord, modules), module);
    SetNode(1, {0x1234, 0, 0});
    SetNode(2, {0x99, 1, kNoModule});
  }
  ~CallTreeTest() override { close(file_); }

  template <typename T>
  void Set(size_t offset, const T& value) {
    ASSERT_EQ(pwrite(file_, &value, sizeof(value),
                     static_cast<off_t>(kTreeAt + offset)),
              static_cast<ssize_t>(sizeof(value)));
  }
  void SetNode(size_t i, const CallNode& node) {
    Set(offsetof(CallTreeRecord, nodes) + i * sizeof(node), node);
  }

  absl::StatusOr<CallTree> Read() const {
    return ReadCallTree(RecordFileReader(path_), kTreeAt);
  }

  const std::string path_;
  const int file_;
};

TEST_F(CallTreeTest, IsWhatTheFileHolds) {
  const auto tree = Read();
  ASSERT_THAT(tree, IsOk());
  ASSERT_EQ(tree->modules.size(), 1u);
  EXPECT_EQ(tree->modules[0].path, "/lib/libx.so");
  EXPECT_EQ(tree->modules[0].build_id, "ab0c");
  ASSERT_EQ(tree->nodes.size(), 2u);
  EXPECT_EQ(tree->nodes[0].address, 0x234u);
  EXPECT_EQ(tree->nodes[0].parent, CallTree::kNone);
  EXPECT_EQ(tree->nodes[1].address, 0x99u);
  EXPECT_EQ(tree->nodes[1].module, CallTree::kNone);
  EXPECT_EQ(tree->nodes[1].parent, 0);
  EXPECT_FALSE(tree->is_incomplete);
}

TEST_F(CallTreeTest, CallsOfPythonNameFunctionAndInstruction) {
  SetNode(2, {kInterpretedCall | 5u << kInstructionBits | 8, 1,
              kInterpretedModule});
  const auto tree = Read();
  ASSERT_THAT(tree, IsOk());
  EXPECT_EQ(tree->nodes[0].python_code, CallTree::kNone);
  EXPECT_EQ(tree->nodes[1].python_code, 5);
  EXPECT_EQ(tree->nodes[1].python_instruction, 7);
  EXPECT_EQ(tree->nodes[1].module, CallTree::kNone);
  EXPECT_EQ(tree->nodes[1].address, 0u);
}

TEST_F(CallTreeTest, SaysWhetherCallsAreMissing) {
  Set(offsetof(CallTreeRecord, is_full), uint32_t{1});
  const auto tree = Read();
  ASSERT_THAT(tree, IsOk());
  EXPECT_TRUE(tree->is_incomplete);
}

TEST_F(CallTreeTest, IndicesThatLeadNowhereAreRefused) {
  const auto expect_damaged = [&](absl::string_view how) {
    EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kInvalidArgument,
                                 testing::HasSubstr(how)));
  };
  SetNode(2, {0x99, 2, kNoModule});
  expect_damaged("its own parent");
  SetNode(2, {0x99, 1, 7});
  expect_damaged("in no module");
  Set(offsetof(CallTreeRecord, node_count), kMaxCallNodes + 1);
  expect_damaged("longer than it can be");
}

TEST_F(CallTreeTest, AFileThatWasCutShortIsRefused) {
  for (off_t size : {5000, 4100, 5}) {
    ASSERT_EQ(ftruncate(file_, size), 0);
    EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kDataLoss)) << size;
  }
}

}  // namespace
}  // namespace footprint
