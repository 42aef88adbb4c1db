#include "footprint/base/page/outcome_grid.h"

#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

OutcomeGrid TwoPeers() {
  OutcomeGrid grid;
  grid.title = "Tokens <a> second";
  grid.description = "of one run";
  grid.columns = {"64 MiB", "32 MiB"};
  grid.sections = {
      {"GPT-2",
       {{"lowmem", {{"2.1", "3.0 GB read", true}, {"1.9", "", true}}},
        {"R&D", {{"killed", "", false}}}}},
      {"BERT", {{"lowmem", {}}}}};
  return grid;
}

// Returns the y of each box, in the order of the drawing.
std::vector<double> Tops(const std::string& svg) {
  const std::regex box("<rect [^>]* y=\"([0-9.]+)\"");
  std::vector<double> tops;
  for (std::sregex_iterator i(svg.begin(), svg.end(), box), end; i != end;
       ++i) {
    tops.push_back(std::strtod((*i)[1].str().c_str(), nullptr));
  }
  return tops;
}

TEST(OutcomeGridTest, DrawsTheOutcomesThatItHas) {
  const std::string svg = OutcomeGridSvg(TwoPeers());
  for (const char* text :
       {">Tokens &lt;a&gt; second</text>", ">of one run</text>", ">64 MiB<",
        ">32 MiB<", ">GPT-2<", ">BERT<", ">R&amp;D<", ">2.1<", ">3.0 GB read<",
        ">killed<", "<title>lowmem, 64 MiB: 2.1, 3.0 GB read</title>",
        "<title>R&amp;D, 64 MiB: killed</title>"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_EQ(Tops(svg).size(), 3);
}

TEST(OutcomeGridTest, PutsRowsBelowEachOtherAndWithinThePicture) {
  const std::string svg = OutcomeGridSvg(TwoPeers());
  const std::vector<double> tops = Tops(svg);
  EXPECT_THAT(tops, ElementsAre(tops[0], tops[0], tops[0] + 44));
  std::smatch size;
  ASSERT_TRUE(std::regex_search(
      svg, size, std::regex("viewBox=\"-16.00 0 792.00 ([0-9.]+)\"")));
  // The last row has no cells but takes its place.
  EXPECT_EQ(std::strtod(size[1].str().c_str(), nullptr), tops[2] + 3 * 44 - 10);
}

TEST(OutcomeGridTest, ColoursGoodOutcomesOnly) {
  OutcomeGrid grid = TwoPeers();
  EXPECT_THAT(OutcomeGridSvg(grid),
              HasSubstr("<rect style=\"fill:var(--wash)\""));
  for (OutcomeGrid::Section& section : grid.sections) {
    for (OutcomeGrid::Row& row : section.rows) {
      for (OutcomeGrid::Cell& cell : row.cells) cell.is_good = true;
    }
  }
  EXPECT_THAT(OutcomeGridSvg(grid),
              Not(HasSubstr("<rect style=\"fill:var(--wash)\"")));
}

TEST(OutcomeGridTest, FitsATelephone) {
  const std::string html = DrawOutcomeGrid(TwoPeers());
  const size_t narrow = html.find("class=\"narrow\"");
  ASSERT_NE(narrow, std::string::npos);
  EXPECT_THAT(html.substr(0, narrow), HasSubstr(">3.0 GB read</text>"));
  EXPECT_THAT(html.substr(narrow), Not(HasSubstr(">3.0 GB read</text>")));
  EXPECT_THAT(html.substr(narrow), HasSubstr("lowmem, 64 MiB: 2.1, 3.0 GB"));
}

TEST(OutcomeGridTest, DrawsNothingOfNothing) {
  EXPECT_THAT(OutcomeGridSvg({}), HasSubstr("</svg>"));
  EXPECT_EQ(Tops(DrawOutcomeGrid({})).size(), 0);
}

}  // namespace
}  // namespace footprint
