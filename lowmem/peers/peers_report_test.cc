#include "footprint/lowmem/peers/peers_report.h"

#include <string>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTable[] = R"({
  "command": "lowmem_peers --limits=64MiB,32MiB", "limits": [67108864, 33554432],
  "most_seconds": 60, "facts": [["processor", "an <odd> one"]],
  "models": [{"name": "gpt2", "kind": "decoder", "bytes": 497759232, "tokens": 8,
    "peers": [
      {"peer": "lowmem", "version": "this tree", "runs": [
        {"limit_bytes": 67108864, "verdict": "ran", "wall_seconds": 4.5,
         "read_bytes": 3145728, "peak_bytes": 66060288, "tokens": 8, "seconds": 4,
         "tokens_per_second": 2},
        {"limit_bytes": 33554432, "verdict": "ran", "wall_seconds": 9,
         "read_bytes": 3145728, "peak_bytes": null, "tokens_per_second": 0.125}]},
      {"peer": "llama.cpp", "version": "b1", "runs": [
        {"limit_bytes": 67108864, "verdict": "killed", "wall_seconds": 1,
         "read_bytes": 1048576, "peak_bytes": 67108864},
        {"limit_bytes": 33554432, "verdict": "error", "detail": "exit status 1: <no> room",
         "wall_seconds": 0.5, "read_bytes": 0, "peak_bytes": 33554432}]},
      {"peer": "torch", "missing": "no torch here", "install": "apt-get install it",
       "runs": []}]}]})";

PeersTable Read() { return *ReadPeersTable(kTable); }

TEST(PeersReportTest, SaysWhoIsAliveAndHowFast) {
  const std::string text = PeersText(Read());
  EXPECT_THAT(text,
              AllOf(HasSubstr("gpt2, 475 MiB: 8 tokens after a prompt"),
                    HasSubstr("64 MiB"), HasSubstr("32 MiB"), HasSubstr("2.00"),
                    HasSubstr("0.125"), HasSubstr("killed"), HasSubstr("error"),
                    HasSubstr("torch is absent: no torch here; next step: "
                              "apt-get install it"),
                    HasSubstr("no answer: it did not end in 60 s")));
}

TEST(PeersReportTest, DrawsAPicture) {
  const std::string svg = PeersSvg(Read());
  EXPECT_THAT(svg, AllOf(HasSubstr("lowmem, 64 MiB: 2.00, read 3.0 MiB"),
                         HasSubstr("lowmem, 32 MiB: 0.125"),
                         HasSubstr("llama.cpp, 64 MiB: killed"),
                         HasSubstr("llama.cpp, 32 MiB: error"),
                         HasSubstr("torch, 64 MiB: absent"),
                         HasSubstr("torch, 32 MiB: absent")));
}

TEST(PeersReportTest, HasEveryFigureOnThePage) {
  const std::string page = PeersPage(Read());
  EXPECT_THAT(
      page,
      AllOf(HasSubstr("<svg"), HasSubstr("4.500 s"), HasSubstr("3.00 MiB"),
            HasSubstr("63.0 MiB"), HasSubstr("exit status 1: &lt;no&gt; room"),
            HasSubstr("an &lt;odd&gt; one"), HasSubstr("this tree"),
            HasSubstr("lowmem_peers --limits=64MiB,32MiB"),
            HasSubstr("Torch is absent")));
  EXPECT_THAT(page, Not(HasSubstr("<odd>")));
}

TEST(PeersReportTest, IsAlsoMarkdown) {
  EXPECT_THAT(PeersMarkdown(Read()),
              AllOf(HasSubstr("| lowmem |"), HasSubstr("| killed |")));
}

TEST(PeersReportTest, ShowsARunThatIsMissing) {
  PeersTable table = Read();
  table.models[0].peers[1].runs.pop_back();
  EXPECT_THAT(PeersSvg(table), HasSubstr("llama.cpp, 32 MiB: -"));
}

TEST(PeersReportTest, RefusesOtherJson) {
  for (const char* text :
       {"", "{}", "[]", "7", R"({"limits": "many"})", "{\"limits\": [1",
        R"({"command": "", "limits": [], "most_seconds": 1, "facts": [],
            "models": [{"name": "gpt2"}]})"}) {
    EXPECT_THAT(
        ReadPeersTable(text),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("peers.json")))
        << text;
  }
}

}  // namespace
}  // namespace footprint
