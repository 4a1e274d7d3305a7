#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/ops/references.h"
#include "trainer/ops/rotary.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct RotaryShape {
  int64_t batch;
  int64_t length;
  AttentionHeads heads;
};

const RotaryShape kRotaryShapes[] = {
    {3, 1, {1, 1, 2}},       {2, 5, {3, 1, 6}},       {1, 127, {4, 2, 64}},  {3, 129, {7, 7, 80}},
    {2, 2048, {16, 8, 128}}, {1, 4096, {32, 8, 128}}, {5, 333, {5, 1, 256}},
};

struct RotaryCase {
  Tensor packed;
  RotaryTable table;
  AttentionHeads heads;
};

RotaryCase RandomRotary(const RotaryShape& shape, torch::ScalarType type) {
  const AttentionHeads& heads = shape.heads;
  return {RandomOnGpu({shape.batch, shape.length, heads.packed_heads(), heads.head_size}, type),
          MakeRotaryTable(torch::arange(shape.length, OnGpu(torch::kInt64)), heads.head_size, {},
                          torch::kFloat32),
          heads};
}

// In fp64, with the table's fp32 numbers.
Tensor Turned(const RotaryCase& c, Rotation rotation) {
  const int64_t turned = c.heads.query_heads + c.heads.key_heads;
  const Tensor sin = rotation == Rotation::kForward ? Wide(c.table.sin) : -Wide(c.table.sin);
  const Tensor heads = Wide(c.packed.narrow(2, 0, turned));
  return torch::cat({reference::Rotate(heads, Wide(c.table.cos), sin),
                     Wide(c.packed.narrow(2, turned, c.heads.key_heads))},
                    2);
}

void ExpectTurns(const RotaryCase& c) {
  for (const Rotation rotation : {Rotation::kForward, Rotation::kBack}) {
    Tensor actual = AtOddAddress(c.packed);
    Rotate(actual, c.table, c.heads, rotation);
    ExpectAccurate(actual, Turned(c, rotation), kShortSumTolerance);
    actual = c.packed.clone();
    Rotate(actual, c.table, c.heads, rotation);
    ExpectAccurate(actual, Turned(c, rotation), kShortSumTolerance);
    const int64_t first_value = c.heads.query_heads + c.heads.key_heads;
    const auto values = [&](const Tensor& packed) {
      return packed.narrow(2, first_value, c.heads.key_heads);
    };
    EXPECT_TRUE(SameBits(values(actual), values(c.packed)));
  }
}

TEST(RotaryGpuTest, TurnsQueriesAndKeysAndNothingElse) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const RotaryShape& shape : kRotaryShapes) {
      const AttentionHeads& heads = shape.heads;
      SCOPED_TRACE(ShapeName(
          type, {shape.batch, shape.length, heads.query_heads, heads.key_heads, heads.head_size}));
      ExpectTurns(RandomRotary(shape, type));
    }
  }
}

TEST(RotaryGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    const RotaryCase c = RandomRotary({2, 2048, {16, 8, 128}}, type);
    ExpectSameBitsInEveryRun([&] {
      Tensor turned = c.packed.clone();
      Rotate(turned, c.table, c.heads, Rotation::kForward);
      return std::vector<Tensor>{turned};
    });
  }
}

}  // namespace
}  // namespace trainyard::trainer
