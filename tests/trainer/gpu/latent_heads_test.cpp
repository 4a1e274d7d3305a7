#include "trainer/ops/attention/latent_heads.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "trainer/ops/attention/rotary.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct LatentShape {
  int64_t batch;
  int64_t length;
  int64_t heads;
  int64_t unrotated;
  int64_t rotated;
  int64_t value;
};

// DeepSeek's heads, sizes that are not multiples of the vector width, and a single head.
const LatentShape kLatentShapes[] = {
    {2, 129, 16, 128, 64, 128}, {1, 333, 5, 128, 64, 128}, {3, 7, 4, 8, 4, 6},
    {2, 65, 3, 16, 16, 12},     {1, 1, 1, 1, 2, 1},        {2, 64, 128, 128, 64, 128},
};

std::string NameOf(const LatentShape& shape, torch::ScalarType type) {
  return ShapeName(
      type, {shape.batch, shape.length, shape.heads, shape.unrotated, shape.rotated, shape.value});
}

// Returns random heads. The keys are NaN, because JoinLatentHeads must write them.
LatentHeads RandomLatentHeads(const LatentShape& shape, torch::ScalarType type) {
  const int64_t size = shape.unrotated + shape.rotated;
  return {
      RandomOnGpu({shape.batch, shape.length, shape.heads, size}, type),
      Poisoned({shape.batch, shape.length, shape.heads, size}, type),
      RandomOnGpu({shape.batch, shape.length, shape.heads, shape.unrotated + shape.value}, type),
      RandomOnGpu({shape.batch * shape.length, shape.rotated}, type)};
}

LatentHeads CopyOf(const LatentHeads& heads) {
  return {heads.query.clone(), heads.key.clone(), heads.expanded.clone(), heads.shared.clone()};
}

LatentHeads WideCopyOf(const LatentHeads& heads) {
  return {Wide(heads.query), Wide(heads.key), Wide(heads.expanded), Wide(heads.shared)};
}

LatentHeads AtOddAddresses(const LatentHeads& heads) {
  return {AtOddAddress(heads.query), AtOddAddress(heads.key), AtOddAddress(heads.expanded),
          AtOddAddress(heads.shared)};
}

RotaryTable TableFor(const LatentShape& shape) {
  return MakeRotaryTable(torch::arange(shape.length, OnGpu(torch::kInt64)), shape.rotated, {},
                         torch::kFloat32);
}

RotaryTable WideTable(const RotaryTable& table) { return {Wide(table.cos), Wide(table.sin)}; }

void ExpectSameAsInFp64(LatentHeads actual, const LatentHeads& expected) {
  ExpectAccurate(actual.query, expected.query, kShortSumTolerance);
  ExpectAccurate(actual.key, expected.key, kShortSumTolerance);
  ExpectAccurate(actual.expanded, expected.expanded, kShortSumTolerance);
  ExpectAccurate(actual.shared, expected.shared, kShortSumTolerance);
}

TEST(LatentHeadsGpuTest, JoinsLikeThePlainVersion) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const LatentShape& shape : kLatentShapes) {
      SCOPED_TRACE(NameOf(shape, type));
      const RotaryTable table = TableFor(shape);
      const LatentHeads heads = RandomLatentHeads(shape, type);
      LatentHeads expected = WideCopyOf(heads);
      JoinLatentHeads(expected, WideTable(table));
      for (LatentHeads actual : {CopyOf(heads), AtOddAddresses(heads)}) {
        JoinLatentHeads(actual, table);
        ExpectSameAsInFp64(actual, expected);
      }
    }
  }
}

TEST(LatentHeadsGpuTest, SplitsLikeThePlainVersion) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const LatentShape& shape : kLatentShapes) {
      SCOPED_TRACE(NameOf(shape, type));
      const RotaryTable table = TableFor(shape);
      LatentHeads gradients = RandomLatentHeads(shape, type);
      gradients.key = RandomOnGpu(gradients.key.sizes().vec(), type);
      LatentHeads expected = WideCopyOf(gradients);
      SplitLatentHeads(expected, WideTable(table));
      gradients.shared.fill_(std::nan(""));
      for (LatentHeads actual : {CopyOf(gradients), AtOddAddresses(gradients)}) {
        SplitLatentHeads(actual, table);
        ExpectSameAsInFp64(actual, expected);
      }
    }
  }
}

TEST(LatentHeadsGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(3);
  const LatentShape shape = kLatentShapes[0];
  const RotaryTable table = TableFor(shape);
  for (const torch::ScalarType type : kGpuTypes) {
    LatentHeads heads = RandomLatentHeads(shape, type);
    heads.key = RandomOnGpu(heads.key.sizes().vec(), type);
    ExpectSameBitsInEveryRun([&] {
      LatentHeads split = CopyOf(heads);
      SplitLatentHeads(split, table);
      return std::vector<Tensor>{split.query, split.expanded, split.shared};
    });
  }
}

}  // namespace
}  // namespace trainyard::trainer
