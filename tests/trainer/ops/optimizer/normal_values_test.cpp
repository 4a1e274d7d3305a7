#include "trainer/ops/optimizer/normal_values.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "trainer/kernels/optimizer/normal_number.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Tensor Filled(uint64_t key, double std, const PlaceInMatrix& place, at::IntArrayRef shape) {
  Tensor values = torch::full(shape, -9, torch::kFloat32);
  FillNormal(key, std, place, values);
  return values;
}

// Rows begin at even and at odd elements, and have even and odd lengths.
TEST(NormalValuesTest, EqualsTheSequenceAtEveryPlace) {
  constexpr double kStd = 0.02;
  for (const int64_t first : {0, 7, 1000000}) {
    for (const int64_t columns : {1, 2, 5, 8}) {
      const PlaceInMatrix place{first, columns + 4};
      const Tensor values = Filled(42, kStd, place, {3, columns});
      for (int64_t row = 0; row < 3; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
          const int64_t index = first + row * place.stride + column;
          EXPECT_EQ(values[row][column].item<float>(),
                    static_cast<float>(kStd) * kernels::StandardNormal(42, index))
              << index;
        }
      }
    }
  }
}

TEST(NormalValuesTest, DoesNotDependOnThreads) {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const Tensor serial = Filled(7, 1, {3, 1999}, {101, 1999});
  at::set_num_threads(4);
  EXPECT_TRUE(Filled(7, 1, {3, 1999}, {101, 1999}).equal(serial));
  at::set_num_threads(threads);
}

TEST(NormalValuesTest, AnEmptyMatrixStaysEmpty) {
  EXPECT_EQ(Filled(7, 1, {0, 5}, {0, 5}).numel(), 0);
}

// The first values drawn by Trainyard's first version. These values must not change, so that runs
// stay reproducible across versions.
TEST(NormalValuesTest, SequenceIsFixedForEver) {
  EXPECT_FLOAT_EQ(kernels::StandardNormal(42, 0), 0.41471975f);
  EXPECT_FLOAT_EQ(kernels::StandardNormal(42, 1), 0.652681222f);
  EXPECT_FLOAT_EQ(kernels::StandardNormal(42, 1000001), -0.0426939101f);
}

}  // namespace
}  // namespace trainyard::trainer
