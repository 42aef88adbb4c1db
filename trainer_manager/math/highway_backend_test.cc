#include "footprint/trainer_manager/math/highway_backend.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "footprint/base/files/refuse_system_call.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Values = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

int64_t Draw(int64_t low, int64_t high, std::mt19937_64* random) {
  return low + static_cast<int64_t>((*random)() %
                                    static_cast<uint64_t>(high - low + 1));
}

Values RandomValues(int64_t count, std::mt19937_64* random) {
  Values values(static_cast<size_t>(count));
  for (float& v : values) {
    v = static_cast<float>(Draw(-1000, 1000, random)) / 500.0f;
  }
  return values;
}

Values Magnitudes(Values values) {
  for (float& v : values) v = std::fabs(v);
  return values;
}

bool SameBits(const Values& a, const Values& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// A workspace of exactly the requested size, at an odd index and full of NaN;
// null if none was requested. Tells whether anything wrote beyond it.
class Workspace {
 public:
  Workspace(int64_t size_bytes, int64_t shift)
      : size_bytes_(size_bytes),
        shift_(shift),
        words_(static_cast<size_t>(size_bytes / 4 + shift + 8), kNan) {
    Mark()[0] = 12345.0f;
  }

  void* data() { return size_bytes_ == 0 ? nullptr : &words_[shift_]; }
  bool IntactBeyond() { return Mark()[0] == 12345.0f; }

 private:
  float* Mark() {
    return &words_[static_cast<size_t>(size_bytes_ / 4) + shift_];
  }

  int64_t size_bytes_;
  size_t shift_;
  Values words_;
};

// Expects each sum of `inner` products to be within the rounding errors of two
// orders of summation.
void ExpectNear(const Values& fast, const Values& reference,
                const Values& magnitude, int64_t inner) {
  const double steps = static_cast<double>(inner + 256 + inner / 256 + 4);
  for (size_t i = 0; i < fast.size(); ++i) {
    ASSERT_LE(std::fabs(fast[i] - reference[i]),
              steps * std::ldexp(1.0, -24) * magnitude[i])
        << "value " << i << ": " << fast[i] << ", not " << reference[i];
  }
}

Values Product(const MathBackend& math, const MatrixProduct& p,
               const Values& left, const Values& right, int64_t shift = 0) {
  Values result(static_cast<size_t>(p.rows * p.columns), kNan);
  Workspace workspace(math.WorkspaceBytes(p), shift);
  math.Multiply(p, left.data(), right.data(), result.data(), workspace.data());
  EXPECT_TRUE(workspace.IntactBeyond());
  return result;
}

MatrixProduct RandomProduct(std::mt19937_64* random) {
  const int64_t most = Draw(0, 2, random) == 0 ? 600 : 40;
  return {Draw(1, std::min<int64_t>(most, 220), random), Draw(1, most, random),
          Draw(1, most, random), Draw(0, 1, random) == 1,
          Draw(0, 1, random) == 1};
}

TEST(HighwayBackendTest, ProductsAreThoseOfPlainLoops) {
  ForEachVectorTarget([](bool) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 60; ++i) {
      const MatrixProduct p = RandomProduct(&random);
      SCOPED_TRACE(testing::Message()
                   << p.rows << " x " << p.inner << " x " << p.columns << " "
                   << p.transpose_left << p.transpose_right);
      const Values left = RandomValues(p.rows * p.inner, &random);
      const Values right = RandomValues(p.inner * p.columns, &random);
      ExpectNear(
          Product(HighwayBackend(), p, left, right),
          Product(ReferenceMath(), p, left, right),
          Product(ReferenceMath(), p, Magnitudes(left), Magnitudes(right)),
          p.inner);
    }
  });
}

// The bits depend neither on the number of rows nor on the workspace's address.
TEST(HighwayBackendTest, ARowHasTheSameBitsInEveryProduct) {
  std::mt19937_64 random(2);
  int without_workspace = 0;
  for (int i = 0; i < 60; ++i) {
    MatrixProduct p = RandomProduct(&random);
    p.transpose_left = false;  // a slice of rows is then a slice of memory
    const Values left = RandomValues(p.rows * p.inner, &random);
    const Values right = RandomValues(p.inner * p.columns, &random);
    const Values whole = Product(HighwayBackend(), p, left, right);
    EXPECT_TRUE(SameBits(whole, Product(HighwayBackend(), p, left, right, 3)));
    MatrixProduct slice = p;
    const int64_t first = Draw(0, p.rows - 1, &random);
    slice.rows = Draw(1, p.rows - first, &random);
    without_workspace += HighwayBackend().WorkspaceBytes(slice) == 0 &&
                         HighwayBackend().WorkspaceBytes(p) > 0;
    const Values rows(left.begin() + first * p.inner,
                      left.begin() + (first + slice.rows) * p.inner);
    EXPECT_TRUE(
        SameBits(Values(whole.begin() + first * p.columns,
                        whole.begin() + (first + slice.rows) * p.columns),
                 Product(HighwayBackend(), slice, rows, right)));
  }
  EXPECT_GT(without_workspace, 0) << "no slice took the other way";
}

// Multiplies by some columns of the right matrix at a time, and writes each
// part of the result to its place.
Values ProductByColumns(const MathBackend& math, const MatrixProduct& p,
                        const Values& left, const Values& right,
                        int64_t width) {
  Values result(static_cast<size_t>(p.rows * p.columns), kNan);
  Workspace workspace(math.WorkspaceBytes(p), 1);
  for (int64_t first = 0; first < p.columns; first += width) {
    MatrixProduct part = p;
    part.columns = std::min(width, p.columns - first);
    part.result_stride = p.columns;
    Values tile(static_cast<size_t>(p.inner * part.columns));
    for (int64_t k = 0; k < p.inner; ++k) {
      for (int64_t c = 0; c < part.columns; ++c) {
        tile[p.transpose_right ? c * p.inner + k : k * part.columns + c] =
            right[p.transpose_right ? (first + c) * p.inner + k
                                    : k * p.columns + first + c];
      }
    }
    math.Multiply(part, left.data(), tile.data(), result.data() + first,
                  workspace.data());
  }
  EXPECT_TRUE(workspace.IntactBeyond());
  return result;
}

// Sums some inner indices at a time. The left operand is not transposed.
Values ProductBySums(const MathBackend& math, const MatrixProduct& p,
                     const Values& left, const Values& right, int64_t width) {
  Values result(static_cast<size_t>(p.rows * p.columns), kNan);
  Workspace workspace(math.WorkspaceBytes(p), 1);
  for (int64_t first = 0; first < p.inner; first += width) {
    MatrixProduct part = p;
    part.inner = std::min(width, p.inner - first);
    part.left_stride = p.inner;
    part.accumulate = first > 0;
    Values tile(static_cast<size_t>(part.inner * p.columns));
    for (int64_t k = 0; k < part.inner; ++k) {
      for (int64_t c = 0; c < p.columns; ++c) {
        tile[p.transpose_right ? c * part.inner + k : k * p.columns + c] =
            right[p.transpose_right ? c * p.inner + first + k
                                    : (first + k) * p.columns + c];
      }
    }
    math.Multiply(part, left.data() + first, tile.data(), result.data(),
                  workspace.data());
  }
  EXPECT_TRUE(workspace.IntactBeyond());
  return result;
}

TEST(HighwayBackendTest, TilesOfAMatrixGiveTheBitsOfTheWhole) {
  const auto team = MakeTeamBackend(3);
  ForEachVectorTarget([&team](bool) {
    std::mt19937_64 random(12);
    for (int i = 0; i < 30; ++i) {
      MatrixProduct p = RandomProduct(&random);
      p.inner = Draw(1, 700, &random);
      if (i % 3 == 0) {  // a small product, which is calculated in place
        p.rows = Draw(1, 9, &random);
        p.columns = Draw(1, 40, &random);
      }
      if (i % 5 == 0) p.columns = Draw(1000, 1200, &random);
      const Values left = RandomValues(p.rows * p.inner, &random);
      const Values right = RandomValues(p.inner * p.columns, &random);
      for (const MathBackend* math :
           {&ReferenceMath(), &HighwayBackend(), team.get()}) {
        const Values whole = Product(*math, p, left, right);
        EXPECT_TRUE(
            SameBits(whole, ProductByColumns(*math, p, left, right,
                                             Draw(1, p.columns, &random))));
        if (p.transpose_left) continue;
        EXPECT_TRUE(SameBits(
            whole, ProductBySums(*math, p, left, right,
                                 math->SumBlock() * Draw(1, 2, &random))));
      }
    }
  });
}

Convolution RandomConvolution(std::mt19937_64* random) {
  Convolution c;
  const int64_t most_channels = Draw(0, 3, random) == 0 ? 60 : 9;
  c.batch = Draw(1, 5, random);
  c.input_channels = Draw(1, most_channels, random);
  c.output_channels = Draw(1, most_channels, random);
  c.kernel = Draw(1, 5, random);
  c.stride = Draw(1, 3, random);
  c.padding = Draw(0, c.kernel - 1, random);
  c.input_height = c.kernel + Draw(0, 9, random);
  c.input_width = c.kernel + Draw(0, 35, random);
  c.output_height = (c.input_height + 2 * c.padding - c.kernel) / c.stride + 1;
  c.output_width = (c.input_width + 2 * c.padding - c.kernel) / c.stride + 1;
  return c;
}

struct Operands {
  Values input;
  Values weight;
  Values bias;
  Values output_derivative;
};

Operands RandomOperands(const Convolution& c, std::mt19937_64* random) {
  return {
      RandomValues(c.batch * c.input_channels * c.input_height * c.input_width,
                   random),
      RandomValues(c.output_channels * c.input_channels * c.kernel * c.kernel,
                   random),
      RandomValues(c.output_channels, random),
      RandomValues(
          c.batch * c.output_channels * c.output_height * c.output_width,
          random)};
}

Operands Magnitudes(const Operands& o) {
  return {Magnitudes(o.input), Magnitudes(o.weight), Magnitudes(o.bias),
          Magnitudes(o.output_derivative)};
}

Values Convolve(const MathBackend& math, const Convolution& c,
                ConvolutionStep step, const Operands& o, int64_t shift = 0) {
  Workspace workspace(math.WorkspaceBytes(c, step), shift);
  Values result;
  if (step == ConvolutionStep::kForward) {
    result.assign(o.output_derivative.size(), kNan);
    math.ConvolutionForward(c, o.input.data(), o.weight.data(), o.bias.data(),
                            result.data(), workspace.data());
  } else if (step == ConvolutionStep::kGradient) {
    result.assign(o.weight.size(), kNan);
    math.ConvolutionGradient(c, o.input.data(), o.output_derivative.data(),
                             result.data(), workspace.data());
  } else {
    result.assign(o.input.size(), kNan);
    math.ConvolutionDerivative(c, o.weight.data(), o.output_derivative.data(),
                               result.data(), workspace.data());
  }
  EXPECT_TRUE(workspace.IntactBeyond());
  return result;
}

int64_t CountInner(const Convolution& c, ConvolutionStep step) {
  if (step == ConvolutionStep::kGradient) {
    return c.batch * c.output_height * c.output_width;
  }
  return (step == ConvolutionStep::kForward ? c.input_channels
                                            : c.output_channels) *
             c.kernel * c.kernel +
         1;  // the bias
}

constexpr ConvolutionStep kSteps[] = {ConvolutionStep::kForward,
                                      ConvolutionStep::kGradient,
                                      ConvolutionStep::kDerivative};

TEST(HighwayBackendTest, ConvolutionsAreThoseOfPlainLoops) {
  ForEachVectorTarget([](bool) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 60; ++i) {
      const Convolution c = RandomConvolution(&random);
      const Operands operands = RandomOperands(c, &random);
      for (const ConvolutionStep step : kSteps) {
        SCOPED_TRACE(testing::Message()
                     << "step " << static_cast<int>(step) << ", kernel "
                     << c.kernel << ", stride " << c.stride << ", padding "
                     << c.padding << ", " << c.input_height << " x "
                     << c.input_width);
        ExpectNear(Convolve(HighwayBackend(), c, step, operands),
                   Convolve(ReferenceMath(), c, step, operands),
                   Convolve(ReferenceMath(), c, step, Magnitudes(operands)),
                   CountInner(c, step));
      }
    }
  });
}

// The sizes need more than one block of rows, of columns and of inner indices.
TEST(HighwayBackendTest, ConvolutionsOfManyChannelsAreThoseOfPlainLoops) {
  std::mt19937_64 random(7);
  for (const bool many_inputs : {false, true}) {
    Convolution c;
    c.batch = 30;
    c.input_channels = many_inputs ? 310 : 30;
    c.output_channels = many_inputs ? 30 : 310;
    c.input_height = c.input_width = c.output_height = c.output_width = 6;
    c.kernel = 3;
    c.padding = 1;
    const Operands operands = RandomOperands(c, &random);
    for (const ConvolutionStep step : kSteps) {
      SCOPED_TRACE(testing::Message() << "step " << static_cast<int>(step));
      ExpectNear(Convolve(HighwayBackend(), c, step, operands),
                 Convolve(ReferenceMath(), c, step, operands),
                 Convolve(ReferenceMath(), c, step, Magnitudes(operands)),
                 CountInner(c, step));
    }
  }
}

// Panels read beyond the edges of an image, and must not use what they read
// there.
TEST(HighwayBackendTest, AnImageOfNansStaysByItself) {
  ForEachVectorTarget([](bool) {
    std::mt19937_64 random(8);
    for (int i = 0; i < 20; ++i) {
      Convolution c = RandomConvolution(&random);
      c.batch = 3;
      Operands operands = RandomOperands(c, &random);
      const auto spoil_second = [](Values* values) {
        const auto third = static_cast<int64_t>(values->size()) / 3;
        std::fill(values->begin() + third, values->begin() + 2 * third, kNan);
      };
      spoil_second(&operands.input);
      spoil_second(&operands.output_derivative);
      for (const ConvolutionStep step : kSteps) {
        if (step == ConvolutionStep::kGradient) continue;  // of the whole batch
        const Values result = Convolve(HighwayBackend(), c, step, operands);
        const size_t third = result.size() / 3;
        for (size_t v = 0; v < third; ++v) {
          ASSERT_FALSE(std::isnan(result[v])) << v;
          ASSERT_FALSE(std::isnan(result[2 * third + v])) << v;
        }
      }
    }
  });
}

TEST(HighwayBackendTest, ANullBiasIsNone) {
  std::mt19937_64 random(4);
  const Convolution c = RandomConvolution(&random);
  Operands operands = RandomOperands(c, &random);
  std::fill(operands.bias.begin(), operands.bias.end(), 0.0f);
  const Values with_zeros =
      Convolve(HighwayBackend(), c, ConvolutionStep::kForward, operands);
  Values without(with_zeros.size(), kNan);
  Workspace workspace(
      HighwayBackend().WorkspaceBytes(c, ConvolutionStep::kForward), 0);
  HighwayBackend().ConvolutionForward(c, operands.input.data(),
                                      operands.weight.data(), nullptr,
                                      without.data(), workspace.data());
  EXPECT_TRUE(SameBits(with_zeros, without));
}

TEST(HighwayBackendTest, AnImageHasTheSameBitsInEveryBatch) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 40; ++i) {
    const Convolution c = RandomConvolution(&random);
    const Operands operands = RandomOperands(c, &random);
    Convolution one = c;
    one.batch = 1;
    const int64_t image = Draw(0, c.batch - 1, &random);
    const auto slice = [&](const Values& values) {
      const auto size = static_cast<int64_t>(values.size()) / c.batch;
      return Values(values.begin() + image * size,
                    values.begin() + (image + 1) * size);
    };
    const Operands alone = {slice(operands.input), operands.weight,
                            operands.bias, slice(operands.output_derivative)};
    for (const ConvolutionStep step : kSteps) {
      const Values whole = Convolve(HighwayBackend(), c, step, operands);
      EXPECT_TRUE(
          SameBits(whole, Convolve(HighwayBackend(), c, step, operands, 5)));
      if (step == ConvolutionStep::kGradient) continue;  // of the whole batch
      EXPECT_TRUE(
          SameBits(slice(whole), Convolve(HighwayBackend(), one, step, alone)));
    }
  }
}

// Compares all instruction sets that have fused multiply-add.
TEST(HighwayBackendTest, BitsAreThoseOfEveryInstructionSet) {
  std::mt19937_64 random(6);
  const MatrixProduct p = {37, 300, 500};
  const Values left = RandomValues(p.rows * p.inner, &random);
  const Values right = RandomValues(p.inner * p.columns, &random);
  const Convolution c = RandomConvolution(&random);
  const Operands operands = RandomOperands(c, &random);
  std::vector<Values> expected;
  ForEachVectorTarget([&](bool fused) {
    if (!fused) return;
    std::vector<Values> results = {Product(HighwayBackend(), p, left, right)};
    for (const ConvolutionStep step : kSteps) {
      results.push_back(Convolve(HighwayBackend(), c, step, operands));
    }
    if (expected.empty()) expected = results;
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_TRUE(SameBits(results[i], expected[i])) << i;
    }
  });
}

// Without a thread the team is its caller alone, which computes every share.
TEST(HighwayBackendDeathTest, ATeamWithoutThreadsComputesEverything) {
  const auto run = [] {
    if (!RefuseThreads()) std::_Exit(3);
    std::mt19937_64 random(8);
    const MatrixProduct p = {96, 64, 256};
    const Values left = RandomValues(p.rows * p.inner, &random);
    const Values right = RandomValues(p.inner * p.columns, &random);
    const auto team = MakeTeamBackend(4);
    const Values alone = Product(HighwayBackend(), p, left, right);
    const Values of_team = Product(*team, p, left, right);
    std::_Exit(SameBits(alone, of_team) ? 0 : 4);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

// Products large enough to be dealt, of every shape: few rows, few columns,
// and as many threads as there are bands.
TEST(HighwayBackendTest, ATeamHasTheBitsOfOneThread) {
  std::mt19937_64 random(7);
  std::vector<MatrixProduct> products = {
      {1, 1100, 1024}, {1100, 1, 1024},    {13, 300, 600, true},
      {600, 17, 300},  {96, 64, 256},      {100, 33, 400, false, true},
      {61, 90, 333},   {700, 50, 40, true}};
  Convolution few_channels;
  few_channels.batch = 3;
  few_channels.input_channels = 2;
  few_channels.output_channels = 70;
  few_channels.kernel = 3;
  few_channels.padding = 1;
  few_channels.input_height = few_channels.output_height = 19;
  few_channels.input_width = few_channels.output_width = 23;
  Convolution strided = few_channels;
  strided.input_channels = 40;
  strided.stride = 2;
  strided.output_height = 10;
  strided.output_width = 12;
  Convolution sparse = strided;  // some places are reached by nothing
  sparse.kernel = 1;
  sparse.stride = 3;
  sparse.padding = 0;
  sparse.input_channels = 70;
  sparse.input_height = sparse.input_width = 61;
  sparse.output_height = sparse.output_width = 21;
  for (const int threads : {2, 3, 7}) {
    const auto team = MakeTeamBackend(threads);
    SCOPED_TRACE(threads);
    for (const MatrixProduct& p : products) {
      SCOPED_TRACE(testing::Message() << p.rows << " x " << p.columns);
      const Values left = RandomValues(p.rows * p.inner, &random);
      const Values right = RandomValues(p.inner * p.columns, &random);
      EXPECT_TRUE(SameBits(Product(HighwayBackend(), p, left, right),
                           Product(*team, p, left, right, 3)));
    }
    for (const Convolution& c : {few_channels, strided, sparse}) {
      const Operands operands = RandomOperands(c, &random);
      for (const ConvolutionStep step : kSteps) {
        EXPECT_TRUE(SameBits(Convolve(HighwayBackend(), c, step, operands),
                             Convolve(*team, c, step, operands, 5)));
      }
    }
  }
}

// As a slice of a batch has the workspace of the whole.
TEST(HighwayBackendTest, ATeamTakesNoMoreWorkspaceForLess) {
  const auto team = MakeTeamBackend(3);
  const MatrixProduct whole = {640, 300, 600};
  for (const int64_t rows : {1, 40, 639}) {
    EXPECT_LE(team->WorkspaceBytes(MatrixProduct{rows, 300, 600}),
              team->WorkspaceBytes(whole));
  }
  EXPECT_EQ(team->WorkspaceBytes(MatrixProduct{32, 50, 50}), 0);
  EXPECT_GE(team->WorkspaceBytes(whole),
            3 * HighwayBackend().WorkspaceBytes(whole));
}

// Counts how often each index is in a band, and the bands themselves.
struct Bands {
  std::vector<int> visits;
  std::vector<int64_t> begins;
  std::set<int> workers;
  std::set<std::thread::id> threads;
};

Bands FindBands(const MathBackend& math, int64_t count, int64_t index_size) {
  // Each band has an entry of its own, so that no lock is needed.
  struct Call {
    int count = 0;
    Band band;
    std::thread::id thread;
  };
  std::vector<Call> calls(static_cast<size_t>(math.threads()));
  math.ForEachBand(count, index_size, [&](const Band& band) {
    Call& call = calls.at(static_cast<size_t>(band.thread));
    ++call.count;
    call.band = band;
    call.thread = std::this_thread::get_id();
  });
  Bands bands;
  bands.visits.resize(static_cast<size_t>(count));
  for (const Call& call : calls) {
    EXPECT_LE(call.count, 1);
    if (call.count == 0) continue;
    for (int64_t i = call.band.begin; i < call.band.end; ++i) {
      ++bands.visits[static_cast<size_t>(i)];
    }
    bands.begins.push_back(call.band.begin);
    bands.workers.insert(call.band.thread);
    bands.threads.insert(call.thread);
  }
  return bands;
}

TEST(HighwayBackendTest, BandsOfALongLoopRunOnDifferentThreads) {
  const auto team = MakeTeamBackend(3);
  for (const int64_t count : {2, 3, 7, 1000, 65536, 65537}) {
    SCOPED_TRACE(count);
    const Bands bands = FindBands(*team, count, 1 << 15);
    EXPECT_THAT(bands.visits, testing::Each(1));
    EXPECT_EQ(bands.begins.size(), std::min<size_t>(3, bands.visits.size()));
    EXPECT_EQ(bands.workers.size(), bands.begins.size());
    EXPECT_EQ(bands.threads.size(), bands.begins.size());
    for (const int worker : bands.workers) EXPECT_LT(worker, team->threads());
  }
}

TEST(HighwayBackendTest, BandsOfElementsBeginAtCacheLines) {
  const auto team = MakeTeamBackend(3);
  const Bands bands = FindBands(*team, 100001, 1);
  EXPECT_THAT(bands.visits, testing::Each(1));
  ASSERT_EQ(bands.begins.size(), 3u);
  for (const int64_t begin : bands.begins) EXPECT_EQ(begin % 16, 0);
}

TEST(HighwayBackendTest, AShortLoopAndOneThreadHaveOneBand) {
  const auto team = MakeTeamBackend(3);
  for (const MathBackend* math : {team.get(), &HighwayBackend()}) {
    const bool is_team = math->threads() > 1;
    const Bands bands =
        FindBands(*math, is_team ? 1000 : 100000, is_team ? 10 : 1);
    EXPECT_THAT(bands.visits, testing::Each(1));
    EXPECT_THAT(bands.begins, testing::ElementsAre(0));
    EXPECT_THAT(bands.workers, testing::ElementsAre(0));
    EXPECT_THAT(bands.threads,
                testing::ElementsAre(std::this_thread::get_id()));
    EXPECT_TRUE(FindBands(*math, 0, 1 << 20).begins.empty());
  }
  EXPECT_EQ(&team->OneThread(), &HighwayBackend());
  EXPECT_EQ(&HighwayBackend().OneThread(), &HighwayBackend());
}

// A thread of a band that asked for the team again would wait for itself.
TEST(HighwayBackendDeathTest, ALongLoopInsideABandEndsTheProgram) {
  const auto run = [] {
    const auto team = MakeTeamBackend(2);
    team->ForEachBand(2, 1 << 20, [&](const Band&) {
      // A short loop runs on the calling thread.
      team->ForEachBand(2, 1, [](const Band&) {});
      team->ForEachBand(2, 1 << 20, [](const Band&) {});
    });
  };
  EXPECT_DEATH(run(), "use MathBackend::OneThread there");
}

TEST(HighwayBackendTest, ATeamHasFrom1To64Threads) {
  for (const int threads : {-3, 0, 1}) {
    EXPECT_EQ(MakeTeamBackend(threads)->threads(), 1);
  }
  EXPECT_EQ(MakeTeamBackend(1000000)->threads(), kMostTeamThreads);
}

TEST(HighwayBackendTest, ATeamSaysWhichProductsItDivides) {
  const auto team = MakeTeamBackend(2);
  EXPECT_TRUE(team->Divides({256, 256, 64}));
  EXPECT_FALSE(team->Divides({64, 64, 64}));
  EXPECT_FALSE(HighwayBackend().Divides({256, 256, 64}));
}

TEST(HighwayBackendTest, ANanComesThrough) {
  const MatrixProduct p = {8, 20, 3};
  Values left(24, 1.0f);
  const Values right(60, 1.0f);
  left[3] = kNan;
  const Values result = Product(HighwayBackend(), p, left, right);
  for (size_t i = 0; i < result.size(); ++i) {
    EXPECT_EQ(std::isnan(result[i]), i / 20 == 1) << i;
  }
}

// A layer may plan one workspace for products of several sizes.
TEST(HighwayBackendTest, SmallProductsUseNoWorkspace) {
  const MatrixProduct p = {3, 50, 50};
  std::mt19937_64 random(5);
  const Values left = RandomValues(3 * 50, &random);
  const Values right = RandomValues(50 * 50, &random);
  Values expected(3 * 50), result(3 * 50);
  HighwayBackend().Multiply(p, left.data(), right.data(), expected.data(),
                            nullptr);
  Values workspace(4, 7.0f);
  HighwayBackend().Multiply(p, left.data(), right.data(), result.data(),
                            workspace.data());
  EXPECT_TRUE(SameBits(result, expected));
  EXPECT_EQ(workspace, Values(4, 7.0f));
}

TEST(HighwayBackendTest, WorkspacesAreSmall) {
  Convolution c;
  c.batch = 64;
  c.input_channels = c.output_channels = 512;
  c.input_height = c.input_width = c.output_height = c.output_width = 64;
  c.kernel = 3;
  c.padding = 1;
  for (const ConvolutionStep step : kSteps) {
    EXPECT_LE(HighwayBackend().WorkspaceBytes(c, step), 361 * 1024);
  }
  for (const bool transposed : {false, true}) {
    EXPECT_LE(HighwayBackend().WorkspaceBytes(
                  {4096, 4096, 4096, transposed, transposed}),
              361 * 1024);
    EXPECT_EQ(
        HighwayBackend().WorkspaceBytes({32, 50, 50, transposed, transposed}),
        0);
  }
}

}  // namespace
}  // namespace footprint
