#include "footprint/gates/engine/trial_files.h"

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kKey[] = "a key of the test";

class TrialFilesTest : public testing::Test {
 protected:
  // Writes an order of this name.
  static OrderedTrial Order(const std::string& attempt) {
    OrderedTrial ordered;
    ordered.order.set_attempt(attempt);
    ordered.order.set_bundle_sha256(Sha256Hex("bundle"));
    ordered.order.mutable_request()->set_budget_bytes(7);
    const absl::StatusOr<std::string> sha256 =
        WriteTrialOrder(ordered.order, TestPath(attempt));
    EXPECT_THAT(sha256, IsOk());
    if (sha256.ok()) ordered.sha256 = *sha256;
    return ordered;
  }

  static TrialReply MakeReply(const OrderedTrial& ordered) {
    TrialReply reply;
    reply.set_attempt(ordered.order.attempt());
    reply.set_order_sha256(ordered.sha256);
    reply.set_bundle_sha256(Sha256Hex("bundle"));
    reply.set_host_name("n2");
    reply.mutable_result()->mutable_verdict()->set_decision(REJECT);
    return reply;
  }

  // Writes the reply as a file and returns its path.
  std::string Write(const TrialReply& reply,
                    const std::string& key = kKey) const {
    EXPECT_THAT(WriteTrialReply(reply, key, path_), IsOk());
    return path_;
  }

  absl::Status Read(const OrderedTrial& ordered) const {
    return ReadTrialReply(path_, kKey, ordered).status();
  }

  const std::string path_ = TestPath("result");
};

TEST_F(TrialFilesTest, TheOtherMachineReadsTheOrderAndItsHash) {
  const OrderedTrial written = Order("one");
  const absl::StatusOr<OrderedTrial> read = ReadTrialOrder(TestPath("one"));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->order.attempt(), "one");
  EXPECT_EQ(read->order.request().budget_bytes(), 7);
  EXPECT_EQ(read->sha256, written.sha256);
}

// A field that only a newer release knows changes the hash, too.
TEST_F(TrialFilesTest, EachFieldOfAnOrderChangesItsHash) {
  const OrderedTrial written = Order("one");
  std::set<std::string> hashes = {written.sha256};
  TrialOrder changed = written.order;
  changed.mutable_request()->add_threshold_texts("text");
  hashes.insert(*WriteTrialOrder(changed, TestPath("one")));
  changed = written.order;
  changed.GetReflection()->MutableUnknownFields(&changed)->AddVarint(99, 1);
  hashes.insert(*WriteTrialOrder(changed, TestPath("one")));
  EXPECT_EQ(hashes.size(), 3u);
  EXPECT_EQ(hashes.count(ReadTrialOrder(TestPath("one"))->sha256), 1u);
}

TEST_F(TrialFilesTest, TheServerReadsTheReplyToItsOrder) {
  const OrderedTrial ordered = Order("one");
  Write(MakeReply(ordered));
  const absl::StatusOr<TrialReply> reply = ReadTrialReply(path_, kKey, ordered);
  ASSERT_THAT(reply, IsOk());
  EXPECT_EQ(reply->host_name(), "n2");
  EXPECT_EQ(reply->result().verdict().decision(), REJECT);
}

TEST_F(TrialFilesTest, AWrongKeyIsRefused) {
  const OrderedTrial ordered = Order("one");
  Write(MakeReply(ordered), "another key, as long");
  EXPECT_THAT(Read(ordered), StatusIs(absl::StatusCode::kPermissionDenied,
                                      HasSubstr("the same key")));
}

TEST_F(TrialFilesTest, TheReplyToAnotherOrderIsRefused) {
  const OrderedTrial first = Order("one");
  const OrderedTrial second = Order("two");
  Write(MakeReply(first));
  EXPECT_THAT(Read(first), IsOk());
  EXPECT_THAT(Read(second),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("of another trial, 'one' in place of 'two'")));
}

// Somebody who can write the order's file, but does not have the key.
TEST_F(TrialFilesTest, TheReplyToAChangedOrderIsRefused) {
  const OrderedTrial ordered = Order("one");
  OrderedTrial changed = ordered;
  changed.order.mutable_request()->set_budget_bytes(INT64_MAX);
  changed.sha256 = *WriteTrialOrder(changed.order, TestPath("one"));
  Write(MakeReply(changed));
  EXPECT_THAT(Read(changed), IsOk());
  EXPECT_THAT(Read(ordered), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("the order was changed")));
}

// The decision of no verdict reads as ACCEPT.
TEST_F(TrialFilesTest, AReplyWithoutAVerdictIsRefused) {
  const OrderedTrial ordered = Order("one");
  TrialReply reply = MakeReply(ordered);
  reply.clear_result();
  Write(reply);
  EXPECT_THAT(Read(ordered), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("neither a verdict")));
  reply.set_error_code(9);
  Write(reply);
  EXPECT_THAT(Read(ordered), IsOk());
}

TEST_F(TrialFilesTest, TheTrialOfAnotherBundleIsRefused) {
  const OrderedTrial ordered = Order("one");
  TrialReply reply = MakeReply(ordered);
  reply.set_bundle_sha256(Sha256Hex("other"));
  Write(reply);
  EXPECT_THAT(Read(ordered), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("another bundle was tried")));
}

TEST_F(TrialFilesTest, NoPartOfAReplyAndNoReplyTwiceIsTaken) {
  const OrderedTrial ordered = Order("one");
  const std::string whole = ReadTestFile(Write(MakeReply(ordered)));
  for (size_t size = 0; size < whole.size(); ++size) {
    WriteTestFile("result", whole.substr(0, size));
    EXPECT_THAT(Read(ordered), Not(IsOk())) << size;
  }
  WriteTestFile("result", whole + whole);
  EXPECT_THAT(Read(ordered), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(ReadTrialReply(TestPath("none"), kKey, ordered),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(TrialFilesTest, EachChangedBitIsFound) {
  const OrderedTrial ordered = Order("one");
  const std::string whole = ReadTestFile(Write(MakeReply(ordered)));
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    WriteTestFile("result", changed);
    EXPECT_THAT(Read(ordered), Not(IsOk())) << bit;
  }
}

// The checksum protects against accidents, and the signature against forgers.
TEST_F(TrialFilesTest, AForgedReplyWithARightChecksumIsRefused) {
  const OrderedTrial ordered = Order("one");
  TrialReply reply = MakeReply(ordered);
  reply.mutable_result()->mutable_verdict()->set_decision(ACCEPT);
  Write(reply, "");
  EXPECT_THAT(Read(ordered), StatusIs(absl::StatusCode::kPermissionDenied));
}

}  // namespace
}  // namespace footprint
