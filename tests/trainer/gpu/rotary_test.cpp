#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/ops/references.h"
#include "trainer/ops/attention/rotary.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct RotaryShape {
  int64_t batch;
  int64_t length;
  AttentionHeads heads;
  int64_t rotary_size = 0;  // 0 means the whole head.
};

const RotaryShape kRotaryShapes[] = {
    {3, 1, {1, 1, 2}},
    {2, 5, {3, 1, 6}},
    {1, 127, {4, 2, 64}},
    {3, 129, {7, 7, 80}},
    {2, 2048, {16, 8, 128}},
    {1, 4096, {32, 8, 128}},
    {5, 333, {5, 1, 256}},
    // Only a part of each head is rotated. The size of this part is a multiple of the vector width,
    // less than that width, or not a multiple.
    {2, 127, {4, 2, 64}, 16},
    {2, 129, {3, 1, 80}, 20},
    {1, 65, {4, 4, 128}, 126},
    {2, 33, {2, 2, 12}, 8},
    {1, 77, {3, 3, 100}, 32},
    {2, 2048, {16, 16, 128}, 32},
};

struct RotaryCase {
  Tensor packed;
  RotaryTable table;
  AttentionHeads heads;
};

RotaryCase RandomRotary(const RotaryShape& shape, torch::ScalarType type) {
  const AttentionHeads& heads = shape.heads;
  return {RandomOnGpu({shape.batch, shape.length, heads.packed_heads(), heads.head_size}, type),
          MakeRotaryTable(torch::arange(shape.length, OnGpu(torch::kInt64)),
                          shape.rotary_size > 0 ? shape.rotary_size : heads.head_size, {},
                          torch::kFloat32),
          heads};
}

// Rotates in fp64, with the fp32 cosines and sines of the table.
Tensor Turned(const RotaryCase& c, Rotation rotation) {
  const int64_t turned = c.heads.query_heads + c.heads.key_heads;
  const Tensor sin = rotation == Rotation::kForward ? Wide(c.table.sin) : -Wide(c.table.sin);
  const Tensor heads = Wide(c.packed.narrow(2, 0, turned));
  const int64_t size = 2 * c.table.cos.size(1), rest = c.heads.head_size - size;
  const Tensor first = reference::Rotate(heads.narrow(3, 0, size), Wide(c.table.cos), sin);
  return torch::cat({torch::cat({first, heads.narrow(3, size, rest)}, 3),
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
    const int64_t size = 2 * c.table.cos.size(1);
    const auto unturned = [&](const Tensor& packed) {
      return packed.narrow(2, 0, first_value).narrow(3, size, c.heads.head_size - size);
    };
    EXPECT_TRUE(SameBits(unturned(actual).contiguous(), unturned(c.packed).contiguous()));
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
      SCOPED_TRACE(ShapeName(type, {shape.batch, shape.length, heads.query_heads, heads.key_heads,
                                    heads.head_size, shape.rotary_size}));
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
