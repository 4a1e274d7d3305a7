#include "trainer/ops/fp8/fp8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr Fp8Format kFp8Formats[] = {Fp8Format::kE4M3, Fp8Format::kE5M2};
constexpr Fp8Arrangement kArrangements[] = {Fp8Arrangement::kRows, Fp8Arrangement::kColumns,
                                            Fp8Arrangement::kBoth};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Fp8Scale ScaleOn(const torch::Device& device, float scale) {
  const auto options = torch::TensorOptions().dtype(torch::kFloat32).device(device);
  return {.scale = torch::full({1}, scale, options), .amax = torch::zeros({1}, options)};
}

void ExpectSameElements(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.defined(), expected.defined());
  if (!actual.defined()) return;
  EXPECT_TRUE(actual.sizes().equals(expected.sizes()));
  EXPECT_TRUE(SameBits(actual.cpu(), expected));
}

// Compares with the plain version on the CPU. `x` is on the GPU.
void ExpectCopyEqualsPlain(const Tensor& x, Fp8Format format, float scale) {
  for (const Fp8Arrangement arrangement : kArrangements) {
    const Fp8Scale on_gpu = ScaleOn(Gpu(), scale), on_cpu = ScaleOn(torch::kCPU, scale);
    const Fp8Matrix actual = ToFp8(x, format, on_gpu, arrangement);
    const Fp8Matrix expected = ToFp8(x.cpu(), format, on_cpu, arrangement);
    ExpectSameElements(actual.rows, expected.rows);
    ExpectSameElements(actual.columns, expected.columns);
    EXPECT_TRUE(SameBits(actual.inverse_scale.cpu(), expected.inverse_scale));
    EXPECT_EQ(actual.format, format);
    const float amax = on_gpu.amax.item<float>(), expected_amax = on_cpu.amax.item<float>();
    EXPECT_TRUE(amax == expected_amax || (std::isnan(amax) && std::isnan(expected_amax)))
        << amax << " " << expected_amax;
  }
}

// Returns numbers whose magnitudes differ by many powers of two, so that some saturate, some are
// small numbers with fewer digits, and some become 0.
Tensor RandomMagnitudes(std::vector<int64_t> shape, torch::ScalarType type) {
  const Tensor powers = torch::randn(shape, OnGpu(torch::kFloat32)) * 5;
  return (torch::randn(shape, OnGpu(torch::kFloat32)) * powers.exp()).to(type);
}

TEST(Fp8GpuTest, CopiesEqualThePlainVersionForEveryShape) {
  torch::manual_seed(1);
  const std::vector<int64_t> shapes[] = {{1, 1},     {3, 7},     {16, 16},   {5, 144},
                                         {130, 16},  {144, 48},  {128, 128}, {129, 128},
                                         {160, 272}, {33, 1000}, {2048, 768}};
  for (const torch::ScalarType type : kGpuTypes) {
    for (const auto& shape : shapes) {
      for (const Fp8Format format : kFp8Formats) {
        SCOPED_TRACE(ShapeName(type, {shape[0], shape[1]}));
        ExpectCopyEqualsPlain(RandomMagnitudes(shape, type), format, 13.7F);
      }
    }
  }
}

TEST(Fp8GpuTest, CopiesOfEverySixteenBitNumberEqualThePlainVersion) {
  const Tensor bits = torch::arange(65536, torch::kInt32).to(torch::kInt16).view({256, 256});
  for (const torch::ScalarType type : {torch::kBFloat16, torch::kHalf}) {
    const Tensor numbers = bits.view(type).to(Gpu());
    for (const Fp8Format format : kFp8Formats) {
      for (const float scale : {1.0F, 1e-3F, 1e30F, std::numeric_limits<float>::max()}) {
        SCOPED_TRACE(ShapeName(type, {static_cast<int64_t>(format)}));
        ExpectCopyEqualsPlain(numbers, format, scale);
      }
    }
  }
}

// Halfway cases of fp32 numbers, and their neighbors. 16-bit numbers do not contain all of them.
TEST(Fp8GpuTest, TiesEqualThePlainVersion) {
  for (const Fp8Format format : kFp8Formats) {
    const Tensor numbers = Fp8Numbers(torch::arange(255).to(torch::kUInt8), format);
    const Tensor next = Fp8Numbers(torch::arange(1, 256).to(torch::kUInt8), format);
    const Tensor middle = (numbers + next) / 2;
    const Tensor bits = middle.view(torch::kInt32);
    const Tensor all = at::cat(
        {middle, (bits - 1).view(torch::kFloat32), (bits + 1).view(torch::kFloat32), numbers});
    ExpectCopyEqualsPlain(all.view({-1, 1}).to(Gpu()), format, 1);
  }
}

TEST(Fp8GpuTest, CopiesTakeMemoryAtOddAddresses) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    ExpectCopyEqualsPlain(AtOddAddress(RandomMagnitudes({144, 48}, type)), Fp8Format::kE4M3, 2);
  }
}

TEST(Fp8GpuTest, CopiesOfNoRowsHaveAScale) {
  ExpectCopyEqualsPlain(torch::empty({0, 32}, OnGpu(torch::kBFloat16)), Fp8Format::kE4M3, 4);
}

TEST(Fp8GpuTest, NonFiniteNumbersSaturateAndRemainVisibleInTheAmax) {
  for (const torch::ScalarType type : kGpuTypes) {
    for (const float value : {kInfinity, -kInfinity, kNan, -0.0F}) {
      // One place per warp of a tile and one in the last tile.
      for (const int64_t row : {0, 17, 63, 127, 143}) {
        const Tensor x = RandomOnGpu({144, 160}, type);
        x[row][(row * 7) % 160] = value;
        ExpectCopyEqualsPlain(x, Fp8Format::kE5M2, 8);
      }
    }
  }
}

float AmaxOnGpu(const Tensor& x, float start) {
  const Tensor amax = torch::full({1}, start, OnGpu(torch::kFloat32));
  RaiseAmax(x, amax);
  return amax.item<float>();
}

TEST(Fp8GpuTest, AmaxEqualsThePlainVersion) {
  torch::manual_seed(3);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t count : {1, 7, 8, 1023, 4097, 10'000'019}) {
      const Tensor x = RandomOnGpu({count}, type);
      const auto largest = x.to(torch::kFloat32).abs().max().item<float>();
      SCOPED_TRACE(ShapeName(type, {count}));
      EXPECT_EQ(AmaxOnGpu(x, 0), largest);
      EXPECT_EQ(AmaxOnGpu(AtOddAddress(x), 0), largest);
      EXPECT_EQ(AmaxOnGpu(x, largest * 2), largest * 2);
      // The last element is not in a whole vector if the count is odd.
      x[count - 1] = -1000;
      EXPECT_EQ(AmaxOnGpu(x, 0), 1000);
      x[count / 2] = kInfinity;
      EXPECT_EQ(AmaxOnGpu(x, 0), kInfinity);
      x[count / 3] = kNan;
      EXPECT_TRUE(std::isnan(AmaxOnGpu(x, 0)));
    }
    EXPECT_TRUE(std::isnan(AmaxOnGpu(RandomOnGpu({100}, type), kNan)));
    EXPECT_EQ(AmaxOnGpu(torch::empty({0}, OnGpu(type)), 3), 3);
  }
}

TEST(Fp8GpuTest, AmaxOfSeveralCopiesIsTheLargestOfAll) {
  torch::manual_seed(4);
  const Fp8Scale scale = ScaleOn(Gpu(), 1);
  const Tensor x = RandomOnGpu({4096, 2048}, torch::kBFloat16);
  for (const Tensor& part : x.split(512)) {
    ToFp8(part, Fp8Format::kE4M3, scale, Fp8Arrangement::kBoth);
  }
  EXPECT_EQ(scale.amax.item<float>(), x.to(torch::kFloat32).abs().max().item<float>());
}

TEST(Fp8GpuTest, ScalesEqualThePlainVersion) {
  torch::manual_seed(5);
  const std::vector<float> special = {0, 448, kInfinity, kNan, 1e-37F, 1e-45F, 3e38F, 1};
  const Tensor amax = at::cat({torch::tensor(special), torch::rand({3001}) * 100});
  for (const Fp8Format format : kFp8Formats) {
    const Tensor expected = torch::rand({amax.numel()}) + 1, scale = expected.to(Gpu());
    UpdateFp8Scale(amax, format, expected);
    UpdateFp8Scale(amax.to(Gpu()), format, scale);
    EXPECT_TRUE(SameBits(scale.cpu(), expected));
  }
}

TEST(Fp8GpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(6);
  for (const torch::ScalarType type : kGpuTypes) {
    const Tensor x = RandomOnGpu({4096, 1408}, type);
    ExpectSameBitsInEveryRun([&] {
      const Fp8Scale scale = ScaleOn(Gpu(), 60);
      const Fp8Matrix copy = ToFp8(x, Fp8Format::kE4M3, scale, Fp8Arrangement::kBoth);
      return std::vector<Tensor>{copy.rows, copy.columns, copy.inverse_scale, scale.amax};
    });
  }
}

}  // namespace
}  // namespace trainyard::trainer
