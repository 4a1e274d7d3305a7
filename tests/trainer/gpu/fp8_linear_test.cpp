#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/trainer/gpu/accuracy.h"
#include "trainer/kernels/cuda_check.h"
#include "trainer/ops/fp8/fp8.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct Fp8Shape {
  int64_t rows;
  int64_t in;
  int64_t out;
};

// The last shapes are those of the 1.5B model (16 samples) and of the 8B model: the packed query,
// key and value, the output of attention, and both products of the feed-forward layer.
const Fp8Shape kFp8Shapes[] = {
    {16, 16, 16},        {32, 48, 64},        {256, 256, 256},      {2064, 528, 1040},
    {32768, 2048, 4096}, {32768, 2048, 2048}, {32768, 2048, 14336}, {32768, 7168, 2048},
    {8192, 4096, 6144},  {8192, 4096, 4096},  {8192, 4096, 28672},  {8192, 14336, 4096},
};

// On Hopper, tensor cores add FP8 products with about 14 bits, 32 terms at a time. A sum of `terms`
// terms can lose 2^-13 of itself in each of these steps.
constexpr double kStepTerms = 32;
double FastSumTolerance(int64_t terms) {
  return std::ceil(static_cast<double>(terms) / kStepTerms) * std::ldexp(1.0, -13);
}
// Without fast accumulation, partial sums move to fp32 after at most 128 terms.
constexpr double kSlowSumTolerance = 4.0 / 8192;

Fp8Matrix RandomFp8(int64_t rows, int64_t width, Fp8Format format, float scale) {
  const Tensor x = RandomOnGpu({rows, width}, torch::kBFloat16);
  return ToFp8(x, format, {.scale = torch::full({1}, scale, OnGpu(torch::kFloat32))},
               Fp8Arrangement::kBoth);
}

struct Fp8LinearCase {
  Fp8Matrix x, weight, dy;
};

// The scales differ, so that a product with the wrong scale is detected.
Fp8LinearCase RandomFp8Linear(const Fp8Shape& shape) {
  return {.x = RandomFp8(shape.rows, shape.in, Fp8Format::kE4M3, 50),
          .weight = RandomFp8(shape.out, shape.in, Fp8Format::kE4M3, 0.7F),
          .dy = RandomFp8(shape.rows, shape.out, Fp8Format::kE5M2, 3000)};
}

// Returns the numbers of the matrix in fp64, on the GPU.
Tensor WideNumbers(const Fp8Matrix& matrix) {
  const Tensor elements = torch::arange(256, torch::kInt64).to(torch::kUInt8);
  const Tensor table = Fp8Numbers(elements, matrix.format).to(Gpu());
  const Tensor numbers = table.index_select(0, matrix.rows.view({-1}).to(torch::kInt32));
  return Wide(numbers).view(matrix.rows.sizes()).mul_(Wide(matrix.inverse_scale));
}

void ExpectForwardProduct(const Fp8LinearCase& c) {
  const Tensor expected = WideNumbers(c.x).matmul(WideNumbers(c.weight).t());
  const double tolerance = FastSumTolerance(c.x.rows.size(1));
  for (const torch::ScalarType type : kGpuTypes) {
    Tensor y = Poisoned(expected.sizes(), type);
    Fp8LinearForward(c.x, c.weight, y);
    ExpectAccurate(y, expected, tolerance);
  }
}

void ExpectInputGradient(const Fp8LinearCase& c) {
  const Tensor expected = WideNumbers(c.dy).matmul(WideNumbers(c.weight));
  for (const torch::ScalarType type : kGpuTypes) {
    Tensor dx = Poisoned(expected.sizes(), type);
    Fp8LinearInputGradient(c.dy, c.weight, dx);
    ExpectAccurate(dx, expected, kSlowSumTolerance);
  }
}

void ExpectWeightGradient(const Fp8LinearCase& c) {
  const Tensor expected = WideNumbers(c.dy).t().matmul(WideNumbers(c.x));
  const Tensor gradient = Poisoned(expected.sizes(), torch::kFloat32);
  Fp8LinearWeightGradient(c.dy, c.x, {gradient, false});
  ExpectAccurate(gradient, expected, kSlowSumTolerance);
  const Tensor earlier = RandomOnGpu(expected.sizes().vec(), torch::kFloat32) * 50;
  gradient.copy_(earlier);
  Fp8LinearWeightGradient(c.dy, c.x, {gradient, true});
  ExpectAccurate(gradient, Wide(earlier) + expected, kSlowSumTolerance);
}

TEST(Fp8LinearGpuTest, EqualsExactProductsOfTheFactorsForEveryShape) {
  torch::manual_seed(1);
  for (const Fp8Shape& shape : kFp8Shapes) {
    SCOPED_TRACE(ShapeName(torch::kUInt8, {shape.rows, shape.in, shape.out}));
    const Fp8LinearCase c = RandomFp8Linear(shape);
    ExpectForwardProduct(c);
    ExpectInputGradient(c);
    ExpectWeightGradient(c);
  }
}

// A forward product and an input gradient with the same factors differ only in the accumulation of
// their sums. With a confused plan, both would have the same bits.
TEST(Fp8LinearGpuTest, OnlyForwardProductsAddFast) {
  torch::manual_seed(2);
  constexpr int64_t kRows = 2048, kTerms = 8192;
  const Fp8Matrix x = RandomFp8(kRows, kTerms, Fp8Format::kE4M3, 50);
  const Fp8Matrix weight = RandomFp8(kRows, kTerms, Fp8Format::kE4M3, 50);
  Fp8Matrix transposed = weight;
  transposed.columns = weight.rows;
  const Tensor expected = WideNumbers(x).matmul(WideNumbers(weight).t());
  Tensor fast = Poisoned(expected.sizes(), torch::kFloat32), slow = fast.clone();
  Fp8LinearForward(x, weight, fast);
  Fp8LinearInputGradient(x, transposed, slow);
  EXPECT_LT(NormOf(Wide(slow) - expected), 0.5 * NormOf(Wide(fast) - expected));
  Tensor again = Poisoned(expected.sizes(), torch::kFloat32);
  Fp8LinearForward(x, weight, again);
  EXPECT_TRUE(SameBits(again, fast));
}

// Products of equal sizes with each order of formats.
TEST(Fp8LinearGpuTest, KeepsFormatsOfEqualShapesApart) {
  torch::manual_seed(3);
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const Fp8Format a : {Fp8Format::kE4M3, Fp8Format::kE5M2}) {
      for (const Fp8Format b : {Fp8Format::kE4M3, Fp8Format::kE5M2}) {
        const Fp8Matrix x = RandomFp8(256, 256, a, 50), weight = RandomFp8(256, 256, b, 20);
        Tensor y = Poisoned({256, 256}, torch::kBFloat16);
        if (a == Fp8Format::kE5M2 && b == Fp8Format::kE5M2) {
          EXPECT_THROW(Fp8LinearForward(x, weight, y), kernels::KernelError);
          continue;
        }
        Fp8LinearForward(x, weight, y);
        ExpectAccurate(y, WideNumbers(x).matmul(WideNumbers(weight).t()), FastSumTolerance(256));
      }
    }
  }
}

TEST(Fp8LinearGpuTest, ReadsTheScalesOfEachCall) {
  torch::manual_seed(4);
  const Fp8LinearCase c = RandomFp8Linear({64, 96, 32});
  Fp8LinearCase scaled = c;
  scaled.x.inverse_scale = c.x.inverse_scale * 2;
  scaled.weight.inverse_scale = c.weight.inverse_scale * 4;
  Tensor y = Poisoned({64, 32}, torch::kFloat32), larger = y.clone();
  Fp8LinearForward(c.x, c.weight, y);
  Fp8LinearForward(scaled.x, scaled.weight, larger);
  EXPECT_TRUE(SameBits(larger, y * 8));
}

TEST(Fp8LinearGpuTest, RefusesOtherSizesAndMissingArrangements) {
  const Fp8LinearCase c = RandomFp8Linear({24, 32, 48});
  Tensor y = Poisoned({24, 48}, torch::kBFloat16);
  EXPECT_THROW(Fp8LinearForward(c.x, c.weight, y), kernels::KernelError);
  Fp8LinearCase rows_only = RandomFp8Linear({32, 32, 32});
  rows_only.weight.columns = Tensor();
  Tensor dx = Poisoned({32, 32}, torch::kBFloat16);
  EXPECT_THROW(Fp8LinearInputGradient(rows_only.dy, rows_only.weight, dx), c10::Error);
}

TEST(Fp8LinearGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(5);
  // Weight gradients of the first shape have few results and long sums, which cuBLASLt splits.
  for (const Fp8Shape& shape : {Fp8Shape{16384, 256, 512}, Fp8Shape{8192, 4096, 6144}}) {
    const Fp8LinearCase c = RandomFp8Linear(shape);
    const Tensor earlier = RandomOnGpu({shape.out, shape.in}, torch::kFloat32);
    ExpectSameBitsInEveryRun([&] {
      Tensor y = Poisoned({shape.rows, shape.out}, torch::kBFloat16);
      Tensor dx = Poisoned({shape.rows, shape.in}, torch::kBFloat16);
      const Tensor overwritten = Poisoned(earlier.sizes(), torch::kFloat32);
      const Tensor added = earlier.clone();
      Fp8LinearForward(c.x, c.weight, y);
      Fp8LinearInputGradient(c.dy, c.weight, dx);
      Fp8LinearWeightGradient(c.dy, c.x, {overwritten, false});
      Fp8LinearWeightGradient(c.dy, c.x, {added, true});
      return std::vector<Tensor>{y, dx, overwritten, added};
    });
  }
}

}  // namespace
}  // namespace trainyard::trainer
