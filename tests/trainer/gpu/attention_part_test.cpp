#include "trainer/ops/attention/attention_part.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/gpu/torch_attention.h"
#include "tests/trainer/ops/references.h"
#include "tests/trainer/ops/zigzag_ring.h"
#include "trainer/kernels/cuda_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct PartShape {
  int64_t batch;
  int64_t queries;
  int64_t keys;
  AttentionHeads heads;
  AttentionMask mask;
};

std::string NameOf(const PartShape& shape) {
  const AttentionHeads& heads = shape.heads;
  return ShapeName(torch::kBFloat16,
                   {shape.batch, shape.queries, shape.keys, heads.query_heads, heads.key_heads,
                    heads.head_size, shape.mask == AttentionMask::kCausal});
}

struct PartCase {
  AttentionPart part;
  Tensor dout;
};

// Returns strided views of packed rows. The queries are the second half of one sequence, and the
// keys and values are the first half of another sequence.
PartCase RandomPart(const PartShape& shape) {
  const AttentionHeads& heads = shape.heads;
  const auto packed = [&](int64_t length) {
    return RandomOnGpu({shape.batch, length, heads.packed_heads(), heads.head_size},
                       torch::kBFloat16);
  };
  const int64_t queries = heads.query_heads, keys = heads.key_heads;
  const Tensor own = packed(2 * shape.queries).narrow(1, shape.queries, shape.queries);
  const Tensor sent = packed(2 * shape.keys).narrow(1, 0, shape.keys);
  const Tensor dout =
      RandomOnGpu({shape.batch, 2 * shape.queries, queries, heads.head_size}, torch::kBFloat16);
  return {{own.narrow(2, 0, queries), sent.narrow(2, queries, keys),
           sent.narrow(2, queries + keys, keys), shape.mask},
          dout.narrow(1, shape.queries, shape.queries)};
}

struct PartRun {
  Tensor out, log_sum_exp, d_query, d_key, d_value;
};

PartRun RunPart(const PartCase& c, Reproducible reproducible = Reproducible::kYes) {
  const auto poisoned = [](const Tensor& like) { return Poisoned(like.sizes(), torch::kBFloat16); };
  PartRun run{poisoned(c.dout), Tensor(), poisoned(c.part.query), poisoned(c.part.key),
              poisoned(c.part.value)};
  run.log_sum_exp = AttentionPartForward(c.part, run.out);
  AttentionPartBackward(c.part, {c.dout, run.out, run.log_sum_exp}, reproducible,
                        {run.d_query, run.d_key, run.d_value});
  return run;
}

// Returns the attention of DeepSeek's latent heads: the values are the last columns of wider heads,
// and the scores have the given scale.
PartCase RandomLatentPart(int64_t batch, int64_t length, int64_t heads, double scale) {
  const auto rows = [&](int64_t size) {
    return RandomOnGpu({batch, length, heads, size}, torch::kBFloat16);
  };
  const AttentionPart part{
      .query = rows(192), .key = rows(192), .value = rows(256).narrow(3, 128, 128), .scale = scale};
  return {part, rows(128)};
}

// Computes the part as attention(query, key, value), with gradients by autograd.
template <typename Attention>
PartRun PartByAutograd(const PartCase& c, torch::ScalarType type, const Attention& attention) {
  std::vector<Tensor> inputs;
  for (const Tensor& input : {c.part.query, c.part.key, c.part.value}) {
    inputs.push_back(input.to(type).detach().clone().set_requires_grad(true));
  }
  const Tensor out = attention(inputs[0], inputs[1], inputs[2]);
  const auto gradients = torch::autograd::grad({out}, inputs, {c.dout.to(type)});
  return {out.detach(), Tensor(), gradients[0], gradients[1], gradients[2]};
}

PartRun ExactPart(const PartCase& c) {
  const bool causal = c.part.mask == AttentionMask::kCausal;
  const double scale = c.part.scale;
  const double factor = scale > 0 ? scale * std::sqrt(double(c.part.query.size(3))) : 1;
  PartRun run = PartByAutograd(c, torch::kFloat64, [&](auto& query, auto& key, auto& value) {
    return reference::WeightedValues(reference::Scores(query * factor, key, causal), value);
  });
  run.log_sum_exp =
      reference::Scores(Wide(c.part.query) * factor, Wide(c.part.key), causal).logsumexp(-1);
  return run;
}

PartRun PartByTorch(const PartCase& c) {
  const bool causal = c.part.mask == AttentionMask::kCausal;
  return PartByAutograd(c, torch::kBFloat16, [&](auto& query, auto& key, auto& value) {
    return TorchAttentionOfPart(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2),
                                causal)
        .transpose(1, 2);
  });
}

// Compares with LibTorch's error, as attention_test.cpp does.
void ExpectAsExactAsTorch(const PartCase& c, Reproducible reproducible = Reproducible::kYes) {
  constexpr double kChance = 1.2;
  const PartRun actual = RunPart(c, reproducible), exact = ExactPart(c), peer = PartByTorch(c);
  const auto expect = [&](const char* name, Tensor PartRun::*result) {
    EXPECT_LE(RelativeNorm(actual.*result, exact.*result),
              kChance * RelativeNorm(peer.*result, exact.*result))
        << name;
  };
  expect("output", &PartRun::out);
  expect("gradient of the queries", &PartRun::d_query);
  expect("gradient of the keys", &PartRun::d_key);
  expect("gradient of the values", &PartRun::d_value);
  EXPECT_LT(RelativeNorm(actual.log_sum_exp, exact.log_sum_exp), 1e-5);
}

TEST(AttentionPartGpuTest, IsAsExactAsLibTorchs) {
  torch::manual_seed(1);
  for (const PartShape& shape : {
           PartShape{2, 256, 256, {4, 2, 64}, AttentionMask::kCausal},
           PartShape{2, 256, 256, {4, 2, 64}, AttentionMask::kNone},
           PartShape{2, 512, 256, {4, 4, 128}, AttentionMask::kNone},
           PartShape{1, 256, 512, {16, 8, 128}, AttentionMask::kNone},
       }) {
    SCOPED_TRACE(NameOf(shape));
    ExpectAsExactAsTorch(RandomPart(shape));
  }
}

// cuDNN decides which other shapes it supports. It must reject an unsupported shape before it
// computes anything.
TEST(AttentionPartGpuTest, OtherShapesAreExactOrRefused) {
  torch::manual_seed(2);
  for (const PartShape& shape : {PartShape{2, 200, 72, {4, 2, 64}, AttentionMask::kNone},
                                 PartShape{1, 77, 131, {2, 2, 128}, AttentionMask::kNone}}) {
    SCOPED_TRACE(NameOf(shape));
    try {
      ExpectAsExactAsTorch(RandomPart(shape));
    } catch (const kernels::KernelError& error) {
      EXPECT_NE(std::string(error.what()).find("cuDNN has no"), std::string::npos) << error.what();
    }
  }
}

// Value heads of 128 elements, read in place, for query heads of 192.
TEST(AttentionPartGpuTest, LatentHeadsAreAsExactAsLibTorchs) {
  torch::manual_seed(11);
  const double usual = 1 / std::sqrt(192.0);
  for (const auto& [batch, length, heads] :
       {std::tuple{2, 256, 4}, std::tuple{1, 1024, 16}, std::tuple{3, 384, 3}}) {
    SCOPED_TRACE(ShapeName(torch::kBFloat16, {batch, length, heads}));
    for (const Reproducible reproducible : {Reproducible::kYes, Reproducible::kNo}) {
      ExpectAsExactAsTorch(RandomLatentPart(batch, length, heads, usual), reproducible);
    }
  }
}

// Uses the score scale of DeepSeek-V3 with YaRN. PartByTorch has the scale 1 / sqrt(192), so its
// results are not compared here.
TEST(AttentionPartGpuTest, TheScaleOfTheScoresIsThatOfThePart) {
  torch::manual_seed(12);
  PartCase c = RandomLatentPart(2, 256, 4, 1.8739 / std::sqrt(192.0));
  const PartRun actual = RunPart(c), exact = ExactPart(c);
  EXPECT_LT(RelativeNorm(actual.out, exact.out), 1e-2);
  EXPECT_LT(RelativeNorm(actual.log_sum_exp, exact.log_sum_exp), 1e-5);
  EXPECT_LT(RelativeNorm(actual.d_query, exact.d_query), 2e-2);
}

TEST(AttentionPartGpuTest, LatentHeadsHaveTheSameBitsInEveryRun) {
  torch::manual_seed(13);
  const PartCase c = RandomLatentPart(2, 1024, 16, 1 / std::sqrt(192.0));
  ExpectSameBitsInEveryRun([&] {
    const PartRun run = RunPart(c);
    return std::vector<Tensor>{run.out, run.log_sum_exp, run.d_query, run.d_key, run.d_value};
  });
}

// The gradient of the values is written in place and does not change the columns before them.
TEST(AttentionPartGpuTest, TheGradientOfValuesIsWrittenInPlace) {
  torch::manual_seed(14);
  const PartCase c = RandomLatentPart(2, 256, 4, 1 / std::sqrt(192.0));
  const PartRun expected = RunPart(c);
  Tensor d_query = Poisoned(c.part.query.sizes(), torch::kBFloat16), d_key = d_query.clone();
  const Tensor wide = torch::full({2, 256, 4, 256}, 7, OnGpu(torch::kBFloat16));
  AttentionPartBackward(c.part, {c.dout, expected.out, expected.log_sum_exp}, Reproducible::kYes,
                        {d_query, d_key, wide.narrow(3, 128, 128)});
  EXPECT_TRUE(SameBits(wide.narrow(3, 128, 128), expected.d_value));
  EXPECT_TRUE((wide.narrow(3, 0, 128) == 7).all().item<bool>());
}

TEST(AttentionPartGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(3);
  for (const AttentionMask mask : {AttentionMask::kCausal, AttentionMask::kNone}) {
    const PartCase c = RandomPart({2, 1024, 1024, {16, 8, 128}, mask});
    ExpectSameBitsInEveryRun([&] {
      const PartRun run = RunPart(c);
      return std::vector<Tensor>{run.out, run.log_sum_exp, run.d_query, run.d_key, run.d_value};
    });
  }
}

struct GpuRingCase {
  AttentionHeads heads;
  Tensor packed, dout;
};

GpuRingCase RandomRingOnGpu(int64_t length, const AttentionHeads& heads, torch::ScalarType type) {
  return {heads, RandomOnGpu({2, length, heads.packed_heads(), heads.head_size}, type),
          RandomOnGpu({2, length, heads.query_heads, heads.head_size}, type)};
}

// Returns the result of attention(packed) over the whole sequence, with gradients by autograd.
template <typename Attention>
RingResult WholeByAutograd(const GpuRingCase& c, torch::ScalarType type,
                           const Attention& attention) {
  const Tensor packed = c.packed.to(type).detach().clone().set_requires_grad(true);
  const Tensor out = attention(packed);
  return {out.detach(), Tensor(), torch::autograd::grad({out}, {packed}, {c.dout.to(type)})[0]};
}

RingResult ExactRing(const GpuRingCase& c) {
  const int64_t queries = c.heads.query_heads, keys = c.heads.key_heads;
  RingResult result = WholeByAutograd(c, torch::kFloat64, [&](const Tensor& packed) {
    return reference::Attention(packed, c.heads);
  });
  result.log_sum_exp = reference::Scores(Wide(c.packed.narrow(2, 0, queries)),
                                         Wide(c.packed.narrow(2, queries, keys)), /*causal=*/true)
                           .logsumexp(-1);
  return result;
}

RingResult RingByTorch(const GpuRingCase& c) {
  const int64_t queries = c.heads.query_heads, keys = c.heads.key_heads;
  return WholeByAutograd(c, torch::kBFloat16, [&](const Tensor& packed) {
    const auto part = [&](int64_t first, int64_t count) {
      return packed.narrow(2, first, count).transpose(1, 2);
    };
    return TorchAttention(part(0, queries), part(queries, keys), part(queries + keys, keys))
        .transpose(1, 2);
  });
}

// The output and the gradients of each part are rounded to bf16 before they are added. This can
// double the squared error of one fused pass. The different order of the sums adds to the error,
// too.
TEST(AttentionPartGpuTest, ZigzagRingIsNearlyAsExactAsLibTorchsWhole) {
  torch::manual_seed(4);
  constexpr double kRoundedParts = 1.7;
  for (const AttentionHeads& heads : {AttentionHeads{4, 2, 64}, AttentionHeads{8, 8, 128}}) {
    const GpuRingCase c = RandomRingOnGpu(2048, heads, torch::kBFloat16);
    const RingResult exact = ExactRing(c), peer = RingByTorch(c);
    for (const int64_t ranks : {2, 4}) {
      SCOPED_TRACE(ShapeName(torch::kBFloat16, {ranks, heads.query_heads, heads.head_size}));
      const RingResult actual = ZigzagRing(c.packed, c.heads, ranks).Run(c.dout);
      EXPECT_LE(RelativeNorm(actual.out, exact.out),
                kRoundedParts * RelativeNorm(peer.out, exact.out));
      EXPECT_LE(RelativeNorm(actual.d_packed, exact.d_packed),
                kRoundedParts * RelativeNorm(peer.d_packed, exact.d_packed));
      EXPECT_LT(RelativeNorm(actual.log_sum_exp, exact.log_sum_exp), 1e-5);
    }
  }
}

TEST(AttentionPartGpuTest, SinglePrecisionRingEqualsAutograd) {
  torch::manual_seed(5);
  const GpuRingCase c = RandomRingOnGpu(256, {4, 2, 64}, torch::kFloat32);
  const RingResult exact = ExactRing(c);
  for (const int64_t ranks : {2, 4}) {
    const RingResult actual = ZigzagRing(c.packed, c.heads, ranks).Run(c.dout);
    ExpectAccurate(actual.out, exact.out, kLongSumTolerance);
    ExpectAccurate(actual.log_sum_exp, exact.log_sum_exp, kLongSumTolerance);
    ExpectAccurate(actual.d_packed, exact.d_packed, kLongSumTolerance);
  }
}

TEST(AttentionPartGpuTest, EveryRingHasTheSameBits) {
  torch::manual_seed(6);
  const GpuRingCase c = RandomRingOnGpu(1024, {8, 4, 128}, torch::kBFloat16);
  ExpectSameBitsInEveryRun([&] {
    const RingResult result = ZigzagRing(c.packed, c.heads, 2).Run(c.dout);
    return std::vector<Tensor>{result.out, result.log_sum_exp, result.d_packed};
  });
}

// Views of halves of longer sequences. Outputs are [batch, length, heads, head_size]; log-sum-exps
// are [batch, heads, length].
struct MergeCase {
  Tensor out_sum, log_sum_exp, part_out, part_log_sum_exp;
};

MergeCase RandomMerge(at::IntArrayRef sizes, torch::ScalarType type) {
  const int64_t batch = sizes[0], length = sizes[1], heads = sizes[2], head_size = sizes[3];
  const auto rows = [&](torch::ScalarType of_rows) {
    return RandomOnGpu({batch, 2 * length, heads, head_size}, of_rows).narrow(1, length, length);
  };
  const auto sums = [&] {
    return (RandomOnGpu({batch, heads, 2 * length}, torch::kFloat32) * 3).narrow(2, length, length);
  };
  return {rows(torch::kFloat32), sums(), rows(type), sums()};
}

void ExpectMergeEqualsTheFormula(const MergeCase& c) {
  Tensor out_sum = Wide(c.out_sum), log_sum_exp = Wide(c.log_sum_exp);
  MergeAttention(out_sum, log_sum_exp, Wide(c.part_out), Wide(c.part_log_sum_exp));
  Tensor actual = c.out_sum, sum = c.log_sum_exp;
  MergeAttention(actual, sum, c.part_out, c.part_log_sum_exp);
  ExpectAccurate(actual, out_sum, kShortSumTolerance);
  ExpectAccurate(sum, log_sum_exp, kShortSumTolerance);
}

TEST(MergeAttentionGpuTest, EqualsTheFormulaForEveryShape) {
  torch::manual_seed(7);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 1, 1, 1},
                                              {2, 3, 5, 7},
                                              {2, 100, 6, 64},
                                              {1, 77, 3, 96},
                                              {3, 512, 16, 128},
                                              {1, 9, 2, 256},
                                              {1, 5, 2, 4096}}) {
      SCOPED_TRACE(ShapeName(type, {sizes[0], sizes[1], sizes[2], sizes[3]}));
      ExpectMergeEqualsTheFormula(RandomMerge(sizes, type));
      MergeCase odd = RandomMerge(sizes, type);
      odd.out_sum = AtOddAddress(odd.out_sum.contiguous());
      odd.part_out = AtOddAddress(odd.part_out.contiguous());
      ExpectMergeEqualsTheFormula(odd);
    }
  }
}

TEST(MergeAttentionGpuTest, LeavesTheOtherHalfAlone) {
  torch::manual_seed(8);
  const MergeCase c = RandomMerge({2, 64, 4, 128}, torch::kBFloat16);
  Tensor out = RandomOnGpu({2, 128, 4, 128}, torch::kFloat32);
  Tensor sums = RandomOnGpu({2, 4, 128}, torch::kFloat32);
  const Tensor out_before = out.clone(), sums_before = sums.clone();
  Tensor late_out = out.narrow(1, 64, 64), late_sums = sums.narrow(2, 64, 64);
  MergeAttention(late_out, late_sums, c.part_out, c.part_log_sum_exp);
  EXPECT_TRUE(out.narrow(1, 0, 64).equal(out_before.narrow(1, 0, 64)));
  EXPECT_TRUE(sums.narrow(2, 0, 64).equal(sums_before.narrow(2, 0, 64)));
  EXPECT_FALSE((late_sums == sums_before.narrow(2, 64, 64)).any().item<bool>());
}

TEST(MergeAttentionGpuTest, ASumOverNoKeysBecomesThePart) {
  torch::manual_seed(9);
  for (const torch::ScalarType type : kGpuTypes) {
    const MergeCase c = RandomMerge({2, 64, 4, 128}, type);
    Tensor out = torch::zeros(c.part_out.sizes(), OnGpu(torch::kFloat32));
    Tensor sums =
        torch::full({2, 4, 64}, -std::numeric_limits<double>::infinity(), OnGpu(torch::kFloat32));
    MergeAttention(out, sums, c.part_out, c.part_log_sum_exp);
    EXPECT_TRUE(out.equal(c.part_out.to(torch::kFloat32)));
    EXPECT_TRUE(sums.equal(c.part_log_sum_exp));
  }
}

TEST(MergeAttentionGpuTest, LargeDifferencesStayFiniteAndNanIsKept) {
  const auto tensor = [](const std::vector<double>& values) {
    return torch::tensor(values, OnGpu(torch::kFloat32));
  };
  Tensor out = tensor({1, 2, 4, 5}).view({1, 4, 1, 1});
  Tensor sums = tensor({1e4, -1e4, 1e4, std::nan("")}).view({1, 1, 4});
  MergeAttention(out, sums, tensor({8, 8, 8, 8}).view({1, 4, 1, 1}),
                 tensor({-1e4, 1e4, 1e4, 0}).view({1, 1, 4}));
  EXPECT_TRUE(out.view({4}).narrow(0, 0, 3).equal(tensor({1, 8, 6})));
  EXPECT_TRUE(sums.view({4}).narrow(0, 0, 2).equal(tensor({1e4, 1e4})));
  EXPECT_TRUE(out.view({4})[3].isnan().item<bool>());
  EXPECT_TRUE(sums.view({4})[3].isnan().item<bool>());
}

}  // namespace
}  // namespace trainyard::trainer
