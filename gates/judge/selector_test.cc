#include "footprint/gates/judge/selector.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(SelectorTest, GlobsKnowTheStarOnly) {
  EXPECT_TRUE(GlobMatches("", ""));
  EXPECT_FALSE(GlobMatches("", "a"));
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("//gates/*", "//gates/deployments/tabular:fit"));
  EXPECT_TRUE(GlobMatches("BM_Load*/layers:*", "BM_LoadLazy/layers:24"));
  EXPECT_FALSE(GlobMatches("BM_Load", "BM_LoadLazy"));
  EXPECT_FALSE(GlobMatches("LoadLazy", "BM_LoadLazy"));
  EXPECT_TRUE(GlobMatches("a.b?[c]", "a.b?[c]"));
  EXPECT_FALSE(GlobMatches("a.b", "axb"));
  EXPECT_FALSE(GlobMatches("a?b", "axb"));
  EXPECT_TRUE(GlobMatches("*ab*ab", "abaab"));
  EXPECT_TRUE(GlobMatches("**", "x"));
}

// Follows the definition of '*', one character at a time.
bool NaiveGlobMatches(absl::string_view glob, absl::string_view text) {
  if (glob.empty()) return text.empty();
  if (glob[0] == '*') {
    return NaiveGlobMatches(glob.substr(1), text) ||
           (!text.empty() && NaiveGlobMatches(glob, text.substr(1)));
  }
  return !text.empty() && glob[0] == text[0] &&
         NaiveGlobMatches(glob.substr(1), text.substr(1));
}

TEST(SelectorTest, GlobsAgreeWithTheirDefinition) {
  std::mt19937 random(1);
  int matched = 0;
  for (int round = 0; round < 50000; ++round) {
    std::string glob;
    std::string text;
    for (int i = random() % 7; i > 0; --i) glob += "ab*"[random() % 3];
    for (int i = random() % 8; i > 0; --i) text += "ab"[random() % 2];
    EXPECT_EQ(GlobMatches(glob, text), NaiveGlobMatches(glob, text))
        << glob << " on " << text;
    matched += GlobMatches(glob, text);
  }
  EXPECT_GT(matched, 1000);
}

TEST(SelectorTest, ABackslashMakesAStarAStar) {
  const std::string glob = "BM_F<int\\*>";
  EXPECT_TRUE(GlobMatches(glob, "BM_F<int*>"));
  EXPECT_FALSE(GlobMatches(glob, "BM_F<int, char>"));
  EXPECT_FALSE(GlobMatches(glob, "BM_F<int>"));
  EXPECT_FALSE(GlobMatches(glob, glob));
  EXPECT_TRUE(GlobMatches("*\\*>*", "BM_F<int**>/1"));
  EXPECT_TRUE(GlobMatches("a\\\\b", "a\\b"));
  EXPECT_FALSE(GlobMatches("a\\\\b", "ab"));
  EXPECT_TRUE(GlobMatches("\\\\*", "\\x"));
  EXPECT_TRUE(IsLiteral(glob));
  EXPECT_TRUE(IsLiteral("\\\\"));
  EXPECT_FALSE(IsLiteral("\\\\*"));
  EXPECT_EQ(NameOfLiteral(glob), "BM_F<int*>");
  // An invalid glob matches nothing.
  for (const char* bad : {"\\", "a\\", "a\\b", "\\n*", "*\\\\\\"}) {
    EXPECT_FALSE(IsGlob(bad)) << bad;
    for (const char* text : {"", "\\", "a\\", "ab", "a\\b", "nx"}) {
      EXPECT_FALSE(GlobMatches(bad, text)) << bad << " on " << text;
    }
  }
  EXPECT_TRUE(IsGlob(glob));
}

TEST(SelectorTest, AnEscapedNameNamesItselfOnly) {
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    std::string name;
    std::string other;
    for (int i = random() % 5; i > 0; --i) name += "a*\\"[random() % 3];
    for (int i = random() % 5; i > 0; --i) other += "a*\\"[random() % 3];
    const std::string glob = EscapeGlob(name);
    EXPECT_TRUE(IsGlob(glob));
    EXPECT_TRUE(IsLiteral(glob));
    EXPECT_EQ(NameOfLiteral(glob), name);
    EXPECT_EQ(GlobMatches(glob, other), name == other) << glob << " " << other;
  }
}

TEST(SelectorTest, EveryArgumentMustBePresentWithItsValue) {
  BenchmarkMemory benchmark;
  benchmark.set_name("BM_Fit/rows:10/columns:2");
  for (auto [name, value] : {std::pair("rows", "10"), {"columns", "2"}}) {
    Argument* argument = benchmark.add_arguments();
    argument->set_name(name);
    argument->set_value(value);
  }
  Selector selector;
  EXPECT_TRUE(SelectsBenchmark(selector, benchmark));
  Argument* wanted = selector.add_arguments();
  wanted->set_name("columns");
  wanted->set_value("2");
  EXPECT_TRUE(SelectsBenchmark(selector, benchmark));
  selector.set_benchmark("BM_Fit*");
  EXPECT_TRUE(SelectsBenchmark(selector, benchmark));
  selector.set_benchmark("BM_Fit");
  EXPECT_FALSE(SelectsBenchmark(selector, benchmark));
  selector.clear_benchmark();
  wanted->set_value("10");
  EXPECT_FALSE(SelectsBenchmark(selector, benchmark));
  wanted->set_value("2");
  selector.add_arguments()->set_name("depth");
  EXPECT_FALSE(SelectsBenchmark(selector, benchmark));
}

TEST(SelectorTest, DescribesItselfForMessages) {
  Selector selector;
  selector.set_label("//a:b");
  EXPECT_EQ(DescribeSelector(selector), "//a:b *");
  selector.set_benchmark("BM_Fit");
  selector.set_phase("load");
  selector.add_arguments()->set_name("rows");
  selector.mutable_arguments(0)->set_value("10");
  EXPECT_EQ(DescribeSelector(selector),
            "//a:b BM_Fit (rows=10), phase \"load\"");
}

TEST(SelectorTest, AWholeProcessIsMeantOnlyByItsName) {
  BenchmarkMemory whole;
  whole.set_name("whole_process/load_profile");
  Selector selector;
  EXPECT_FALSE(SelectsBenchmark(selector, whole));
  for (const char* other : {"*", "*_process/*", "BM_*"}) {
    selector.set_benchmark(other);
    EXPECT_FALSE(SelectsBenchmark(selector, whole)) << other;
  }
  for (const char* own : {"whole_process/*", "whole_process/load_profile"}) {
    selector.set_benchmark(own);
    EXPECT_TRUE(SelectsBenchmark(selector, whole)) << own;
  }
}

Selector MakeSelector(const std::string& label, const std::string& benchmark,
                      const std::string& phase = "") {
  Selector selector;
  selector.set_label(label);
  selector.set_benchmark(benchmark);
  selector.set_phase(phase);
  return selector;
}

TEST(SelectorTest, MoreParticularIsAPart) {
  const auto is_more = [](const Selector& a, const Selector& b) {
    EXPECT_FALSE(IsMoreParticular(a, b) && IsMoreParticular(b, a));
    return IsMoreParticular(a, b);
  };
  const Selector all = MakeSelector("*", "");
  EXPECT_TRUE(is_more(MakeSelector("//a:b", ""), all));
  EXPECT_TRUE(is_more(MakeSelector("*", "BM_X"), all));
  EXPECT_TRUE(is_more(MakeSelector("*", "BM_X"), MakeSelector("*", "BM_*")));
  EXPECT_FALSE(is_more(all, all));
  EXPECT_FALSE(is_more(MakeSelector("*", "*"), all));  // the same
  // Neither selector names a part of what the other names.
  EXPECT_FALSE(is_more(MakeSelector("//a:b", ""), MakeSelector("*", "BM_X")));
  EXPECT_FALSE(is_more(MakeSelector("*", "BM_X"), MakeSelector("//a:b", "")));
  EXPECT_FALSE(is_more(MakeSelector("*", "*X"), MakeSelector("*", "BM*")));
  // A phase is not a part of the whole region, but of all phases.
  EXPECT_FALSE(is_more(MakeSelector("*", "", "fit"), all));
  EXPECT_FALSE(is_more(all, MakeSelector("*", "", "fit")));
  EXPECT_TRUE(
      is_more(MakeSelector("*", "", "fit"), MakeSelector("*", "", "*")));
  // An escaped star matches only itself.
  EXPECT_TRUE(is_more(MakeSelector("*", "a\\*"), MakeSelector("*", "a*")));
  EXPECT_FALSE(is_more(MakeSelector("*", "a*"), MakeSelector("*", "a\\*")));
  Selector rows = all;
  rows.add_arguments()->set_name("rows");
  EXPECT_TRUE(is_more(rows, all));
}

// The oracle matches all texts of up to five letters, one of which is in no
// glob.
TEST(SelectorTest, MoreParticularAsAllTextsShow) {
  std::vector<std::string> texts = {""};
  for (size_t i = 0; texts[i].size() < 5; ++i) {
    for (const char c : {'a', 'b', 'z'}) texts.push_back(texts[i] + c);
  }
  std::vector<std::string> globs = {""};
  for (size_t i = 0; globs[i].size() < 3; ++i) {
    for (const char c : {'a', 'b', '*'}) globs.push_back(globs[i] + c);
  }
  for (const std::string& part : globs) {
    for (const std::string& whole : globs) {
      int only_in_part = 0;
      int only_in_whole = 0;
      for (const std::string& text : texts) {
        const bool in_part = GlobMatches(part, text);
        const bool in_whole = GlobMatches(whole, text);
        only_in_part += in_part && !in_whole ? 1 : 0;
        only_in_whole += in_whole && !in_part ? 1 : 0;
      }
      ASSERT_EQ(
          IsMoreParticular(MakeSelector(part, ""), MakeSelector(whole, "")),
          only_in_part == 0 && only_in_whole > 0)
          << part << " of " << whole;
    }
  }
}

}  // namespace
}  // namespace footprint
