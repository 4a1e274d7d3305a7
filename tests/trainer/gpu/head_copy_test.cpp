#include "trainer/ops/attention/head_copy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// A rank sends every second group of heads of a packed tensor.
struct CopiedShape {
  int64_t samples;
  int64_t length;
  int64_t heads;
  int64_t size;
};

// Rows narrower and wider than a block of threads, rows that do not fill the last block, and heads
// that cannot be copied in vectors.
const CopiedShape kCopiedShapes[] = {{1, 1, 1, 8},      {3, 5, 3, 64},    {8, 257, 8, 128},
                                     {2, 1024, 4, 192}, {1, 33, 40, 128}, {5, 7, 2, 12}};

HeadCopy RandomCopy(const CopiedShape& shape, torch::ScalarType type) {
  const Tensor from = RandomOnGpu({shape.samples, shape.length, 2 * shape.heads, shape.size}, type);
  const Tensor rows =
      torch::zeros({shape.length, shape.samples, 2 * shape.heads * shape.size}, from.options());
  const int64_t width = shape.heads * shape.size;
  return {from.narrow(2, shape.heads, shape.heads),
          rows.narrow(2, width, width)
              .view({shape.length, shape.samples, shape.heads, shape.size})
              .transpose(0, 1)};
}

TEST(GpuHeadCopyTest, EqualsLibTorch) {
  for (const torch::ScalarType type : {torch::kBFloat16, torch::kFloat32}) {
    std::vector<HeadCopy> copies;
    for (int repeat = 0; repeat < 4; ++repeat) {  // More copies than one kernel runs.
      for (const CopiedShape& shape : kCopiedShapes) copies.push_back(RandomCopy(shape, type));
    }
    CopyHeads(copies);
    for (const auto& [from, to] : copies) {
      EXPECT_TRUE(to.equal(from)) << to.sizes();
    }
  }
}

TEST(GpuHeadCopyTest, OtherElementsAreUnchanged) {
  const HeadCopy copy = RandomCopy({3, 50, 4, 64}, torch::kBFloat16);
  CopyHeads({copy});
  const Tensor rows = copy.to.transpose(0, 1);
  EXPECT_TRUE(copy.to.equal(copy.from));
  const Tensor before =
      rows.as_strided({50, 3, 4 * 64}, {3 * 512, 512, 1}, rows.storage_offset() - 4 * 64);
  EXPECT_EQ(before.count_nonzero().item<int64_t>(), 0);
}

}  // namespace
}  // namespace trainyard::trainer
