#include "trainer/ops/attention/attention.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/gpu/torch_attention.h"
#include "tests/trainer/ops/references.h"
#include "trainer/kernels/cuda_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct AttentionTestShape {
  int64_t batch;
  int64_t length;
  AttentionHeads heads;
};

std::string NameOf(const AttentionTestShape& shape) {
  const AttentionHeads& heads = shape.heads;
  return ShapeName(torch::kBFloat16, {shape.batch, shape.length, heads.query_heads, heads.key_heads,
                                      heads.head_size});
}

struct AttentionCase {
  AttentionHeads heads;
  Tensor packed, dout;
};

AttentionCase RandomAttention(const AttentionTestShape& shape, torch::ScalarType type) {
  const AttentionHeads& heads = shape.heads;
  return {heads,
          RandomOnGpu({shape.batch, shape.length, heads.packed_heads(), heads.head_size}, type),
          RandomOnGpu({shape.batch, shape.length, heads.query_heads, heads.head_size}, type)};
}

struct AttentionResult {
  Tensor out, softmax, d_packed;
};

AttentionResult RunAttention(const AttentionCase& c) {
  AttentionResult result{Poisoned(c.dout.sizes(), c.dout.scalar_type()), Tensor(),
                         Poisoned(c.packed.sizes(), c.packed.scalar_type())};
  result.softmax = AttentionForward(c.packed, c.heads, result.out);
  AttentionBackward(c.dout, {c.packed, result.out, result.softmax}, c.heads, Reproducible::kYes,
                    result.d_packed);
  return result;
}

// Computes the reference in fp64, with gradients by autograd.
AttentionResult AttentionByAutograd(const AttentionCase& c) {
  const Tensor packed = Wide(c.packed).set_requires_grad(true);
  const Tensor out = reference::Attention(packed, c.heads);
  const auto gradients = torch::autograd::grad({out}, {packed}, {Wide(c.dout)});
  return {out.detach(), Tensor(), gradients[0]};
}

// Returns the result and gradient of LibTorch's own fused attention, in the type of the case.
AttentionResult AttentionByTorch(const AttentionCase& c) {
  const Tensor packed = c.packed.detach().clone().set_requires_grad(true);
  const auto part = [&](int64_t first, int64_t count) {
    return packed.narrow(2, first, count).transpose(1, 2);
  };
  const int64_t queries = c.heads.query_heads, keys = c.heads.key_heads;
  const Tensor out =
      TorchAttention(part(0, queries), part(queries, keys), part(queries + keys, keys))
          .transpose(1, 2);
  const auto gradients = torch::autograd::grad({out}, {packed}, {c.dout});
  return {out.detach(), Tensor(), gradients[0]};
}

// Returns the logarithms of the softmax sums in fp64, as [batch, query_heads, length].
Tensor LogSumExp(const AttentionCase& c) {
  const int64_t queries = c.heads.query_heads, keys = c.heads.key_heads;
  return reference::Scores(Wide(c.packed.narrow(2, 0, queries)),
                           Wide(c.packed.narrow(2, queries, keys)), /*causal=*/true)
      .logsumexp(-1);
}

// bf16 attention has no simple error bound, because the softmax weights are rounded, too. Therefore
// the reference is the error of another fused implementation. The error may be a fifth larger, to
// allow for random rounding.
void ExpectAsExactAsTorch(const AttentionCase& c) {
  constexpr double kChance = 1.2;
  const AttentionResult actual = RunAttention(c), exact = AttentionByAutograd(c);
  const AttentionResult peer = AttentionByTorch(c);
  EXPECT_LE(RelativeNorm(actual.out, exact.out), kChance * RelativeNorm(peer.out, exact.out));
  const int64_t queries = c.heads.query_heads, keys = c.heads.key_heads;
  const auto expect = [&](const char* name, int64_t first, int64_t count) {
    const auto error = [&](const AttentionResult& result) {
      return RelativeNorm(result.d_packed.narrow(2, first, count),
                          exact.d_packed.narrow(2, first, count));
    };
    EXPECT_LE(error(actual), kChance * error(peer)) << name;
  };
  expect("gradient of the queries", 0, queries);
  expect("gradient of the keys", queries, keys);
  expect("gradient of the values", queries + keys, keys);
  EXPECT_LT(RelativeNorm(actual.softmax, LogSumExp(c)), 1e-5);
}

TEST(AttentionGpuTest, IsAsExactAsLibTorchs) {
  torch::manual_seed(1);
  for (const AttentionTestShape& shape :
       {AttentionTestShape{2, 256, {4, 2, 64}}, AttentionTestShape{1, 512, {4, 4, 128}},
        AttentionTestShape{3, 128, {6, 1, 64}}, AttentionTestShape{2, 1024, {16, 8, 128}}}) {
    SCOPED_TRACE(NameOf(shape));
    ExpectAsExactAsTorch(RandomAttention(shape, torch::kBFloat16));
    ExpectAsExactAsTorch(RandomAttention(shape, torch::kHalf));
  }
}

// cuDNN decides which other shapes it supports. It must reject an unsupported shape before it
// computes anything.
TEST(AttentionGpuTest, OtherShapesAreExactOrRefused) {
  torch::manual_seed(2);
  for (const AttentionTestShape& shape :
       {AttentionTestShape{2, 200, {4, 2, 64}}, AttentionTestShape{1, 77, {2, 2, 128}},
        AttentionTestShape{2, 256, {4, 4, 96}}, AttentionTestShape{2, 128, {2, 1, 32}}}) {
    SCOPED_TRACE(NameOf(shape));
    try {
      ExpectAsExactAsTorch(RandomAttention(shape, torch::kBFloat16));
    } catch (const kernels::KernelError& error) {
      EXPECT_NE(std::string(error.what()).find("cuDNN has no"), std::string::npos) << error.what();
    }
  }
}

TEST(AttentionGpuTest, SinglePrecisionEqualsAutograd) {
  torch::manual_seed(3);
  const AttentionCase c = RandomAttention({2, 200, {4, 2, 64}}, torch::kFloat32);
  const AttentionResult actual = RunAttention(c), exact = AttentionByAutograd(c);
  ExpectAccurate(actual.out, exact.out, kLongSumTolerance);
  ExpectAccurate(actual.d_packed, exact.d_packed, kLongSumTolerance);
}

TEST(AttentionGpuTest, LaterPositionsDoNotMatter) {
  torch::manual_seed(4);
  AttentionCase c = RandomAttention({2, 256, {4, 2, 64}}, torch::kBFloat16);
  const Tensor before = RunAttention(c).out.narrow(1, 0, 100);
  c.packed.narrow(1, 100, 156).fill_(50);
  EXPECT_TRUE(SameBits(RunAttention(c).out.narrow(1, 0, 100), before));
}

TEST(AttentionGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(5);
  for (const AttentionTestShape& shape :
       {AttentionTestShape{2, 256, {4, 2, 64}}, AttentionTestShape{4, 2048, {16, 8, 128}}}) {
    SCOPED_TRACE(NameOf(shape));
    const AttentionCase c = RandomAttention(shape, torch::kBFloat16);
    ExpectSameBitsInEveryRun([&] {
      const AttentionResult result = RunAttention(c);
      return std::vector<Tensor>{result.out, result.softmax, result.d_packed};
    });
  }
}

}  // namespace
}  // namespace trainyard::trainer
