#include "footprint/profiling/sites/call_tree_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/base/random/property_seeds.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/call_tree.h"
#include "footprint/profiling/records/call_tree_record.h"
#include "footprint/profiling/records/record_file_reader.h"
#include "footprint/profiling/sites/growing_file.h"
#include "footprint/profiling/sites/number_index.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

class CallTreeWriterTest : public testing::Test {
 protected:
  CallTreeWriterTest() { Begin(); }
  ~CallTreeWriterTest() override {
    file_.Close();
    unlink(Path().c_str());
  }

  static std::string Path() { return testing::TempDir() + "/tree"; }

  void Begin() {
    file_.Close();
    unlink(Path().c_str());
    const int folder = open(testing::TempDir().c_str(), O_PATH);
    record_ = static_cast<CallTreeRecord*>(
        file_.Create(folder, "tree", sizeof(CallTreeRecord),
                     offsetof(CallTreeRecord, modules)));
    close(folder);
    ASSERT_NE(record_, nullptr);
    ASSERT_TRUE(tree_.Begin(&file_, record_, 0));
  }

  CallTree Read() {
    const absl::StatusOr<CallTree> tree =
        ReadCallTree(RecordFileReader(Path()), 0);
    EXPECT_THAT(tree, IsOk());
    return tree.ok() ? *tree : CallTree();
  }

  GrowingFile file_;
  CallTreeRecord* record_ = nullptr;
  CallTreeWriter tree_;
};

// Each random stack has one node, and the path up from it is the stack.
TEST_F(CallTreeWriterTest, ANodeLeadsBackToItsStack) {
  for (uint32_t seed = 1; seed <= PropertySeedCount() / 4; ++seed) {
    Begin();
    std::mt19937 random(seed);
    std::map<std::vector<uintptr_t>, uint32_t> nodes;
    for (int step = 0; step < 300; ++step) {
      std::vector<uintptr_t> calls(random() % 6);
      for (uintptr_t& call : calls) call = 16 + random() % 4;
      const uint32_t node =
          tree_.FindNode(calls.data(), static_cast<int>(calls.size()));
      const auto [known, is_new] = nodes.emplace(calls, node);
      ASSERT_EQ(known->second, node) << "seed " << seed;
    }
    const CallTree tree = Read();
    for (const auto& [calls, number] : nodes) {
      int at = static_cast<int>(number) - 1;
      for (uintptr_t call : calls) {
        ASSERT_NE(at, CallTree::kNone) << "seed " << seed;
        const CallTree::Node& node = tree.nodes[static_cast<size_t>(at)];
        EXPECT_EQ(node.address, call);
        EXPECT_EQ(node.module, CallTree::kNone);
        at = node.parent;
      }
      ASSERT_EQ(at, CallTree::kNone) << "seed " << seed;
    }
    EXPECT_FALSE(tree.is_incomplete);
  }
}

int Function() { return 1; }

TEST_F(CallTreeWriterTest, NamesTheObjectThatHoldsTheCode) {
  const auto own = reinterpret_cast<uintptr_t>(&Function);
  const auto other = reinterpret_cast<uintptr_t>(&getpid);
  const uintptr_t calls[] = {own, other};
  tree_.FindNode(calls, 2);
  tree_.FindNode(calls, 1);
  const CallTree tree = Read();
  ASSERT_EQ(tree.nodes.size(), 3u);
  ASSERT_EQ(tree.modules.size(), 2u);
  const CallTree::Node& outer = tree.nodes[0];
  EXPECT_THAT(tree.modules[static_cast<size_t>(outer.module)].path,
              testing::HasSubstr("libc.so"));
  EXPECT_LT(outer.address, other);
  const CallTree::Node& inner = tree.nodes[1];
  EXPECT_THAT(tree.modules[static_cast<size_t>(inner.module)].path,
              testing::HasSubstr("call_tree_writer_test"));
  EXPECT_GE(tree.modules[0].build_id.size(), 16u);
}

TEST_F(CallTreeWriterTest, CallsOfAnInterpreterAreInNoObject) {
  const uintptr_t calls[] = {kInterpretedCall | 9};
  const uint32_t node = tree_.FindNode(calls, 1);
  EXPECT_EQ(record_->nodes[node].module, kInterpretedModule);
  EXPECT_EQ(Read().nodes[0].python_instruction, 8);
}

// Makes two calls of one caller whose hashes agree in all compared bits.
TEST_F(CallTreeWriterTest, CallsWithOneHashAreTwo) {
  std::unordered_map<uint32_t, uintptr_t> addresses;
  for (uintptr_t address = 16; address < 10'000'000; ++address) {
    const auto hash = static_cast<uint32_t>(HashPair(kRootNode, address));
    const auto [known, is_new] = addresses.emplace(hash, address);
    if (is_new) continue;
    const uint32_t node = tree_.FindNode(&known->second, 1);
    EXPECT_NE(tree_.FindNode(&address, 1), node);
    EXPECT_EQ(tree_.FindNode(&known->second, 1), node);
    return;
  }
  FAIL() << "no two addresses have one hash";
}

TEST_F(CallTreeWriterTest, CallsAreOtherOnesAfterCodeWasForgotten) {
  const uintptr_t calls[] = {16};
  const uint32_t before = tree_.FindNode(calls, 1);
  EXPECT_EQ(tree_.FindNode(calls, 1), before);
  tree_.ForgetCode();
  EXPECT_NE(tree_.FindNode(calls, 1), before);
}

TEST_F(CallTreeWriterTest, AFullTreeKeepsTheOuterCalls) {
  const uintptr_t calls[] = {32, 16};
  const uint32_t outer = tree_.FindNode(calls + 1, 1);
  record_->node_count = kMaxCallNodes;
  EXPECT_EQ(tree_.FindNode(calls, 2), outer);
  EXPECT_EQ(record_->is_full.load(), 1u);
}

}  // namespace
}  // namespace footprint::profiling_internal
