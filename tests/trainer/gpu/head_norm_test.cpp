#include "trainer/ops/attention/head_norm.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr double kHeadEpsilon = 1e-6;

// The range of heads to normalize within packed rows.
struct HeadShape {
  int64_t batch;
  int64_t length;
  int64_t row_heads;
  int64_t first;  // First head to normalize.
  int64_t heads;
  int64_t size;
};

// Shapes for every kernel plan. Some do not fill a plan or the last block; some cannot be read in
// vectors.
const HeadShape kHeadShapes[] = {
    {1, 1, 1, 0, 1, 64},    {3, 5, 6, 0, 4, 64},       {2, 127, 6, 4, 1, 80},
    {1, 333, 9, 2, 5, 96},  {2, 2048, 32, 0, 16, 128}, {2, 1024, 32, 16, 8, 128},
    {3, 129, 5, 1, 3, 256}, {2, 65, 4, 0, 3, 320},     {2, 67, 5, 1, 2, 7},
    {1, 200, 4, 2, 1, 1},
};

std::string NameOf(const HeadShape& s, torch::ScalarType type) {
  return ShapeName(type, {s.batch, s.length, s.row_heads, s.first, s.heads, s.size});
}

struct HeadNormCase {
  HeadShape shape;
  Tensor packed, d_packed, weight, gradient;

  Tensor HeadsOf(const Tensor& rows) const { return rows.narrow(2, shape.first, shape.heads); }
  int64_t rows() const { return shape.batch * shape.length * shape.heads; }
};

HeadNormCase RandomHeads(const HeadShape& s, torch::ScalarType type) {
  const std::vector<int64_t> sizes = {s.batch, s.length, s.row_heads, s.size};
  return {.shape = s,
          .packed = RandomOnGpu(sizes, type),
          .d_packed = RandomOnGpu(sizes, type),
          .weight = RandomOnGpu({s.size}, type) + 1,
          .gradient = RandomOnGpu({s.size}, torch::kFloat32)};
}

struct HeadNormResult {
  Tensor packed, d_packed, gradient;
  HeadNormKept kept;
};

// Runs both passes in place on make(tensor), a copy of each tensor. If `accumulate` is true, adds
// to the existing gradient.
template <typename Make>
HeadNormResult RunHeadNorm(const HeadNormCase& c, const Make& make, bool accumulate) {
  const auto type = c.packed.scalar_type();
  HeadNormResult result{
      make(c.packed),
      make(c.d_packed),
      accumulate ? c.gradient.clone() : Poisoned(c.gradient.sizes(), torch::kFloat32),
      {Poisoned({c.rows(), c.shape.size}, type), Poisoned({c.rows()}, torch::kFloat32)}};
  Tensor heads = c.HeadsOf(result.packed), d_heads = c.HeadsOf(result.d_packed);
  HeadNormForward(heads, c.weight, kHeadEpsilon, result.kept);
  HeadNormBackward(d_heads, c.weight, result.kept, {result.gradient, accumulate});
  return result;
}

// Checks that all heads outside of the normalized range are unchanged.
void ExpectOthersUntouched(const HeadNormCase& c, const Tensor& actual, const Tensor& before) {
  Tensor restored = actual.clone();
  c.HeadsOf(restored).copy_(c.HeadsOf(before));
  EXPECT_TRUE(SameBits(restored, before));
}

void ExpectHeadNormEqualsAutograd(const HeadNormCase& c, const HeadNormResult& actual,
                                  bool accumulate) {
  const Tensor x = Wide(c.HeadsOf(c.packed)).contiguous().set_requires_grad(true);
  const Tensor weight = Wide(c.weight).set_requires_grad(true);
  const Tensor y = reference::RmsNorm(x, weight, kHeadEpsilon), dy = Wide(c.HeadsOf(c.d_packed));
  const auto gradients = torch::autograd::grad({y}, {x, weight}, {dy});
  const Tensor inverse_rms = (x.detach().square().mean(-1) + kHeadEpsilon).rsqrt();
  ExpectAccurate(c.HeadsOf(actual.packed), y.detach(), kShortSumTolerance);
  EXPECT_TRUE(SameBits(actual.kept.x, c.HeadsOf(c.packed).contiguous()));
  ExpectAccurate(actual.kept.inverse_rms, inverse_rms.flatten(), kShortSumTolerance);
  // In a head of few elements, most of the gradient cancels. Therefore the scale is the norm of one
  // of its terms.
  const double scale = NormOf(dy * Wide(c.weight) * inverse_rms.unsqueeze(-1));
  ExpectAccurate(c.HeadsOf(actual.d_packed), gradients[0], kShortSumTolerance, scale);
  const Tensor sum = accumulate ? gradients[1] + Wide(c.gradient) : gradients[1];
  ExpectAccurate(actual.gradient, sum, kLongSumTolerance);
  ExpectOthersUntouched(c, actual.packed, c.packed);
  ExpectOthersUntouched(c, actual.d_packed, c.d_packed);
}

TEST(HeadNormGpuTest, EqualsAutogradAndTouchesNoOtherHeads) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const HeadShape& shape : kHeadShapes) {
      SCOPED_TRACE(NameOf(shape, type));
      const HeadNormCase c = RandomHeads(shape, type);
      const auto copy = [](const Tensor& tensor) { return tensor.clone(); };
      for (const bool accumulate : {false, true}) {
        ExpectHeadNormEqualsAutograd(c, RunHeadNorm(c, copy, accumulate), accumulate);
      }
      ExpectHeadNormEqualsAutograd(c, RunHeadNorm(c, AtOddAddress, false), false);
    }
  }
}

TEST(HeadNormGpuTest, WithoutCopiesOfTheHeadsTheResultIsTheSame) {
  torch::manual_seed(2);
  for (const HeadShape& shape : kHeadShapes) {
    SCOPED_TRACE(NameOf(shape, torch::kBFloat16));
    const HeadNormCase c = RandomHeads(shape, torch::kBFloat16);
    const auto copy = [](const Tensor& tensor) { return tensor.clone(); };
    const Tensor expected = RunHeadNorm(c, copy, false).packed;
    Tensor packed = c.packed.clone(), heads = c.HeadsOf(packed);
    HeadNormKept kept{Tensor(), Poisoned({c.rows()}, torch::kFloat32)};
    HeadNormForward(heads, c.weight, kHeadEpsilon, kept);
    EXPECT_TRUE(SameBits(packed, expected));
  }
}

TEST(HeadNormGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(3);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const HeadShape& shape : {kHeadShapes[4], kHeadShapes[6], kHeadShapes[7]}) {
      SCOPED_TRACE(NameOf(shape, type));
      const HeadNormCase c = RandomHeads(shape, type);
      ExpectSameBitsInEveryRun([&] {
        const auto copy = [](const Tensor& tensor) { return tensor.clone(); };
        const HeadNormResult result = RunHeadNorm(c, copy, true);
        return std::vector<Tensor>{result.packed, result.d_packed, result.gradient, result.kept.x,
                                   result.kept.inverse_rms};
      });
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
