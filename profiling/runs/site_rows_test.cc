#include "footprint/profiling/runs/site_rows.h"

#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "footprint/profiling/runs/amounts.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(SiteRowsTest, RowsAddUpAndAreSorted) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    for (const MeasuredImage& image : run.images()) {
      Amount sites;
      for (const SiteAmounts& site : image.sites()) {
        AddTo(site.allocated(), &sites);
      }
      Amount sum;
      int64_t before = INT64_MAX;
      for (const SiteRow& row : SiteRows(run, image)) {
        AddTo(row.allocated, &sum);
        EXPECT_LE(row.at_peak.bytes(), before);
        before = row.at_peak.bytes();
      }
      EXPECT_EQ(sum.bytes(), sites.bytes()) << seed;
      EXPECT_EQ(sum.count(), sites.count()) << seed;
      EXPECT_DOUBLE_EQ(sum.variance(), sites.variance()) << seed;
    }
  }
}

TEST(SiteRowsTest, SitesBeforeTheRecordAreARow) {
  MeasuredRun run = NestedRun();
  MeasuredImage* const image = run.add_images();
  image->add_sites()->mutable_at_peak()->set_bytes(5);
  image->add_sites()->set_call(1);
  image->mutable_sites(1)->set_temporary_count(3);
  const auto rows = SiteRows(run, *image);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].frame.function(), "[before the agent began]");
  EXPECT_EQ(rows[0].at_peak.bytes(), 5);
  EXPECT_EQ(rows[1].frame.function(), "main");
  EXPECT_EQ(rows[1].temporary_count, 3);
}

TEST(SiteRowsTest, ARowNamesItsLargestCall) {
  MeasuredRun run = NestedRun();
  MeasuredImage* const image = run.add_images();
  for (uint32_t call : {2, 4, 5}) {
    SiteAmounts* const site = image->add_sites();
    site->set_call(call);
    site->mutable_at_peak()->set_bytes(call == 4 ? 900 : 100);
  }
  const auto rows = SiteRows(run, *image);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].largest_call, 4u);
  EXPECT_EQ(rows[0].at_peak.bytes(), 1100);
}

}  // namespace
}  // namespace footprint
