#include "footprint/profiling/live_view/live_frame.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr int64_t kMebi = int64_t{1} << 20;

uint32_t AddCall(absl::string_view function, int line, MeasuredRun* run) {
  CodeFrame* const frame = run->add_frames();
  frame->set_kind(CodeFrame::PYTHON);
  frame->set_function(std::string(function));
  frame->set_file("/home/me/train.py");
  frame->set_module("/home/me/train.py");
  frame->set_line(line);
  run->add_calls()->set_frame(static_cast<uint32_t>(run->frames_size()) - 1);
  return static_cast<uint32_t>(run->calls_size());
}

// A run of a script whose function "load" held the most at the peak, and "fit"
// does now.
MeasuredRun ExampleRun() {
  MeasuredRun run;
  run.set_sampling_interval_bytes(0);
  MeasuredImage* const image = run.add_images();
  image->set_end(MeasuredImage::RUNS_ON);
  image->add_command_line("python3");
  image->add_command_line("/home/me/train.py");
  image->set_interpreter("CPython 3.11.2");
  image->set_begin_time_ns(1'000'000'000);
  image->set_peak_time_ns(3'000'000'000);
  image->set_peak_live_bytes(64 * kMebi);
  image->set_has_sites(true);
  image->add_stages();
  image->add_stages()->set_name("epoch");
  for (const auto& [function, line, at_peak, now] :
       {std::tuple{"load", 3, 60 * kMebi, kMebi},
        std::tuple{"fit", 7, 4 * kMebi, 16 * kMebi}}) {
    SiteAmounts* const site = image->add_sites();
    site->set_call(AddCall(function, line, &run));
    site->mutable_at_peak()->set_bytes(at_peak);
    site->mutable_at_end()->set_bytes(now);
  }
  for (const auto& [time_ns, bytes] :
       {std::pair{int64_t{1'000'000'000}, kMebi},
        std::pair{int64_t{3'000'000'000}, 64 * kMebi},
        std::pair{int64_t{4'000'000'000}, 17 * kMebi}}) {
    TimelinePoint* const point = image->add_timeline();
    point->set_time_ns(time_ns);
    point->set_live_bytes(bytes);
    point->set_stage(1);
  }
  return run;
}

size_t CountCharacters(absl::string_view text) {
  size_t count = 0;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xc0) != 0x80) ++count;
  }
  return count;
}

TEST(LiveFrameTest, ShowsWhatIsHeldNow) {
  const std::vector<std::string> lines =
      LiveFrameLines(ExampleRun(), {/*rows=*/8, /*columns=*/80});
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_THAT(lines[0], StartsWith("-- memprof: live 17.0 MiB, peak 64.0 MiB "
                                   "after 2.000 s; epoch ---"));
  EXPECT_THAT(lines[1], HasSubstr("█"));
  EXPECT_THAT(lines[2], HasSubstr("16.0 MiB  94 %  train.py:7 fit"));
  EXPECT_THAT(lines[3], HasSubstr("1.00 MiB   6 %  train.py:3 load"));
}

TEST(LiveFrameTest, NamesCannotMoveTheCursor) {
  MeasuredRun run = ExampleRun();
  run.mutable_frames(1)->set_function("\033[2Jfit");
  run.mutable_images(0)->mutable_stages(1)->set_name("a\nb\033[H");
  for (const std::string& line : LiveFrameLines(run, {8, 200})) {
    EXPECT_EQ(line.find_first_of("\033\n"), std::string::npos) << line;
  }
}

TEST(LiveFrameTest, FitsIntoItsSize) {
  for (int rows = 0; rows < 6; ++rows) {
    for (int columns : {1, 20, 33, 200}) {
      const std::vector<std::string> lines =
          LiveFrameLines(ExampleRun(), {rows, columns});
      EXPECT_EQ(lines.size(), static_cast<size_t>(std::min(rows, 4)));
      for (const std::string& line : lines) {
        EXPECT_LE(CountCharacters(line), static_cast<size_t>(columns)) << line;
      }
    }
  }
}

TEST(LiveFrameTest, CountsTheProcessesThatRun) {
  MeasuredRun run = ExampleRun();
  run.add_images()->set_end(MeasuredImage::RUNS_ON);
  run.add_images()->set_end(MeasuredImage::EXITED);
  EXPECT_THAT(LiveFrameLines(run, {1, 80})[0], HasSubstr("; 2 processes"));
}

TEST(LiveFrameTest, SaysThatNothingIsRecordedYet) {
  EXPECT_THAT(LiveFrameLines(MeasuredRun(), {8, 80}),
              testing::ElementsAre(HasSubstr("nothing is recorded yet")));
  MeasuredRun run;
  run.add_images();
  EXPECT_THAT(LiveFrameLines(run, {8, 80})[0], HasSubstr("peak 0 B"));
}

}  // namespace
}  // namespace footprint
