#include "trainer/ops/fp8/fp8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Fp8Format kFormats[] = {Fp8Format::kE4M3, Fp8Format::kE5M2};

// Returns the element of the largest finite number.
int LargestElement(Fp8Format format) { return format == Fp8Format::kE4M3 ? 0x7e : 0x7b; }

Tensor OneNumber(float value) { return torch::full({1}, value); }

Fp8Scale ScaleOf(float scale) { return {.scale = OneNumber(scale), .amax = OneNumber(0)}; }

Tensor Floats(const std::vector<float>& values) { return torch::tensor(values); }

// Returns the element of a number with scale 1.
int ElementOf(float value, Fp8Format format) {
  const Tensor x = Floats({value}).view({1, 1});
  return ToFp8(x, format, ScaleOf(1), Fp8Arrangement::kRows).rows.item<uint8_t>();
}

// Returns the numbers of all 256 elements.
std::vector<float> AllNumbers(Fp8Format format) {
  const Tensor numbers = Fp8Numbers(torch::arange(256).to(torch::kUInt8), format);
  return {numbers.data_ptr<float>(), numbers.data_ptr<float>() + 256};
}

TEST(Fp8Test, NumbersFollowTheDefinitionOfEachFormat) {
  const std::vector<float> e4m3 = AllNumbers(Fp8Format::kE4M3);
  EXPECT_EQ(e4m3[0x01], std::ldexp(1.0F, -9));
  EXPECT_EQ(e4m3[0x07], std::ldexp(7.0F, -9));
  EXPECT_EQ(e4m3[0x08], std::ldexp(1.0F, -6));
  EXPECT_EQ(e4m3[0x38], 1.0F);
  EXPECT_EQ(e4m3[0xb9], -1.125F);
  EXPECT_EQ(e4m3[0x7e], 448.0F);
  EXPECT_TRUE(std::isnan(e4m3[0x7f]) && std::isnan(e4m3[0xff]));
  const std::vector<float> e5m2 = AllNumbers(Fp8Format::kE5M2);
  EXPECT_EQ(e5m2[0x01], std::ldexp(1.0F, -16));
  EXPECT_EQ(e5m2[0x04], std::ldexp(1.0F, -14));
  EXPECT_EQ(e5m2[0x3c], 1.0F);
  EXPECT_EQ(e5m2[0xbd], -1.25F);
  EXPECT_EQ(e5m2[0x7b], 57344.0F);
  EXPECT_EQ(e5m2[0x7c], kInfinity);
  EXPECT_EQ(e5m2[0xfc], -kInfinity);
  EXPECT_TRUE(std::isnan(e5m2[0x7d]) && std::isnan(e5m2[0xff]));
  for (const Fp8Format format : kFormats) {
    const std::vector<float> numbers = AllNumbers(format);
    EXPECT_EQ(numbers[LargestElement(format)], LargestFp8(format));
    for (int i = 0; i < LargestElement(format); ++i) {
      EXPECT_LT(numbers[i], numbers[i + 1]) << i;
      EXPECT_EQ(numbers[i + 0x80], -numbers[i]) << i;
    }
  }
}

TEST(Fp8Test, EveryFiniteNumberKeepsItsElement) {
  for (const Fp8Format format : kFormats) {
    const std::vector<float> numbers = AllNumbers(format);
    for (int sign = 0; sign <= 0x80; sign += 0x80) {
      for (int i = 0; i <= LargestElement(format); ++i) {
        EXPECT_EQ(ElementOf(numbers[sign + i], format), sign + i);
      }
    }
  }
}

TEST(Fp8Test, RoundsToTheNearestNumberAndTiesToTheEvenElement) {
  for (const Fp8Format format : kFormats) {
    const std::vector<float> numbers = AllNumbers(format);
    for (int i = 0; i < LargestElement(format); ++i) {
      const float middle = (numbers[i] + numbers[i + 1]) / 2;
      const float below = std::nextafter(middle, 0.0F), above = std::nextafter(middle, kInfinity);
      EXPECT_EQ(ElementOf(below, format), i) << middle;
      EXPECT_EQ(ElementOf(middle, format), i + i % 2) << middle;
      EXPECT_EQ(ElementOf(above, format), i + 1) << middle;
      EXPECT_EQ(ElementOf(-below, format), 0x80 + i) << middle;
      EXPECT_EQ(ElementOf(-middle, format), 0x80 + i + i % 2) << middle;
      EXPECT_EQ(ElementOf(-above, format), 0x80 + i + 1) << middle;
    }
    EXPECT_EQ(ElementOf(std::numeric_limits<float>::denorm_min(), format), 0);
  }
}

TEST(Fp8Test, SaturatesAndKeepsNan) {
  for (const Fp8Format format : kFormats) {
    const auto largest = static_cast<float>(LargestFp8(format));
    for (const float value : {largest * 1.01F, largest * 2, 3e38F, kInfinity}) {
      EXPECT_EQ(ElementOf(value, format), LargestElement(format)) << value;
      EXPECT_EQ(ElementOf(-value, format), 0x80 + LargestElement(format)) << value;
    }
    EXPECT_EQ(ElementOf(kNan, format), 0x7f);
    EXPECT_EQ(ElementOf(-kNan, format), 0x7f);
  }
}

TEST(Fp8Test, MultipliesByTheScaleInSinglePrecision) {
  torch::manual_seed(1);
  for (const auto type : {torch::kFloat32, torch::kBFloat16, torch::kHalf}) {
    const Tensor x = torch::randn({7, 9}).to(type);
    const Fp8Matrix scaled = ToFp8(x, Fp8Format::kE4M3, ScaleOf(13.7F), Fp8Arrangement::kRows);
    const Fp8Matrix expected =
        ToFp8(x.to(torch::kFloat32) * 13.7F, Fp8Format::kE4M3, ScaleOf(1), Fp8Arrangement::kRows);
    EXPECT_TRUE(scaled.rows.equal(expected.rows));
    EXPECT_EQ(scaled.inverse_scale.item<float>(), 1 / 13.7F);
    // E4M3 has 4 significant bits, so an error is at most 1/16 of the number (or of 2^-6).
    const Tensor numbers = Fp8Numbers(scaled.rows, scaled.format) * scaled.inverse_scale;
    const Tensor error = (numbers - x.to(torch::kFloat32)).abs();
    EXPECT_TRUE(
        (error <= x.to(torch::kFloat32).abs().clamp_min(1 / 64.0) / 15.9).all().item<bool>());
  }
}

TEST(Fp8Test, ColumnsAreTheTransposedRows) {
  torch::manual_seed(2);
  const Tensor x = torch::randn({5, 3});
  const auto copy = [&](Fp8Arrangement arrangement) {
    return ToFp8(x, Fp8Format::kE5M2, ScaleOf(2), arrangement);
  };
  const Fp8Matrix both = copy(Fp8Arrangement::kBoth);
  EXPECT_EQ(both.format, Fp8Format::kE5M2);
  EXPECT_TRUE(both.rows.sizes().equals({5, 3}) && both.columns.sizes().equals({3, 5}));
  EXPECT_TRUE(both.columns.is_contiguous());
  EXPECT_TRUE(both.columns.equal(both.rows.t()));
  const Fp8Matrix rows = copy(Fp8Arrangement::kRows), columns = copy(Fp8Arrangement::kColumns);
  EXPECT_TRUE(rows.rows.equal(both.rows) && !rows.columns.defined());
  EXPECT_TRUE(columns.columns.equal(both.columns) && !columns.rows.defined());
}

float AmaxOf(float start, const std::vector<float>& values) {
  const Tensor amax = OneNumber(start);
  RaiseAmax(Floats(values), amax);
  return amax.item<float>();
}

TEST(Fp8Test, AmaxIsTheLargestMagnitude) {
  EXPECT_EQ(AmaxOf(0, {1, -3, 2}), 3);
  EXPECT_EQ(AmaxOf(5, {1, -3, 2}), 5);
  EXPECT_EQ(AmaxOf(5, {}), 5);
  EXPECT_FALSE(std::signbit(AmaxOf(0, {-0.0F})));
  EXPECT_EQ(AmaxOf(0, {1, -kInfinity, 2}), kInfinity);
  // NaN is found at every place, and an earlier NaN is kept.
  EXPECT_TRUE(std::isnan(AmaxOf(0, {kNan, kInfinity, 1})));
  EXPECT_TRUE(std::isnan(AmaxOf(0, {1, -kNan, kInfinity})));
  EXPECT_TRUE(std::isnan(AmaxOf(kInfinity, {1, kInfinity, kNan})));
  EXPECT_TRUE(std::isnan(AmaxOf(kNan, {1, kInfinity})));
}

TEST(Fp8Test, AmaxDoesNotDependOnOrderOrParts) {
  torch::manual_seed(3);
  const Tensor x = torch::randn({1000}), whole = OneNumber(0), parts = OneNumber(0);
  RaiseAmax(x, whole);
  for (const Tensor& part : x.index_select(0, torch::randperm(1000)).split(77)) {
    RaiseAmax(part, parts);
  }
  EXPECT_TRUE(whole.equal(parts));
  const Tensor exact = torch::tensor({-2.5F, 1.0F}).to(torch::kHalf);
  EXPECT_EQ((RaiseAmax(exact, parts.fill_(0)), parts.item<float>()), 2.5F);
}

TEST(Fp8Test, CopiesRaiseTheAmaxOfTheUnscaledNumbers) {
  Fp8Scale scale = ScaleOf(8);
  const Tensor x = Floats({1, -6, 2, 0}).view({2, 2});
  ToFp8(x, Fp8Format::kE4M3, scale, Fp8Arrangement::kColumns);
  EXPECT_EQ(scale.amax.item<float>(), 6);
  ToFp8(x / 2, Fp8Format::kE4M3, scale, Fp8Arrangement::kColumns);
  EXPECT_EQ(scale.amax.item<float>(), 6);
  ToFp8(x * kNan, Fp8Format::kE4M3, scale, Fp8Arrangement::kRows);
  EXPECT_TRUE(std::isnan(scale.amax.item<float>()));
  const Tensor amax = scale.amax.fill_(0);
  scale.amax = Tensor();
  ToFp8(x, Fp8Format::kE4M3, scale, Fp8Arrangement::kRows);
  EXPECT_EQ(amax.item<float>(), 0);
}

TEST(Fp8Test, ScaleMapsTheAmaxToTheLargestNumber) {
  constexpr float kOld = 3;
  const float largest_float = std::numeric_limits<float>::max();
  const std::vector<float> amax = {448, 3, 0, kInfinity, kNan, 1e-37F, 1e-45F, 3e38F};
  for (const Fp8Format format : kFormats) {
    const Tensor scale = torch::full({static_cast<int64_t>(amax.size())}, kOld);
    UpdateFp8Scale(Floats(amax), format, scale);
    const auto largest = static_cast<float>(LargestFp8(format));
    const std::vector<float> expected = {largest / 448, largest / 3,   kOld,           kOld, kOld,
                                         largest_float, largest_float, largest / 3e38F};
    EXPECT_TRUE(scale.equal(Floats(expected))) << scale;
  }
}

TEST(Fp8Test, ScaleIsTheQuotientRoundedOnce) {
  torch::manual_seed(6);
  const Tensor amax = torch::rand({1000}) + 0.01F, scale = torch::ones({1000});
  UpdateFp8Scale(amax, Fp8Format::kE4M3, scale);
  for (int64_t i = 0; i < amax.numel(); ++i) {
    EXPECT_EQ(scale[i].item<float>(), 448 / amax[i].item<float>());
  }
}

TEST(Fp8Test, RefusesWhatHasNoFp8Copy) {
  EXPECT_THROW(ToFp8(torch::ones({2, 2}, torch::kInt32), Fp8Format::kE4M3, ScaleOf(1),
                     Fp8Arrangement::kRows),
               c10::Error);
  EXPECT_THROW(ToFp8(torch::ones({2, 3}).t(), Fp8Format::kE4M3, ScaleOf(1), Fp8Arrangement::kRows),
               c10::Error);
  const Tensor amax = OneNumber(0);
  EXPECT_THROW(RaiseAmax(torch::ones({2, 3}).t(), amax), c10::Error);
}

struct Fp8Case {
  Fp8Matrix x, weight, dy;
  Tensor wide_x, wide_weight, wide_dy;  // The numbers of the matrices in fp64.
};

Tensor WideNumbers(const Fp8Matrix& matrix) {
  return Fp8Numbers(matrix.rows, matrix.format).to(torch::kFloat64) *
         matrix.inverse_scale.to(torch::kFloat64);
}

Fp8Case RandomFp8Case(int64_t rows, int64_t in, int64_t out) {
  const auto random = [](int64_t m, int64_t n, Fp8Format format, float scale) {
    return ToFp8(torch::randn({m, n}), format, ScaleOf(scale), Fp8Arrangement::kBoth);
  };
  Fp8Case c{.x = random(rows, in, Fp8Format::kE4M3, 31),
            .weight = random(out, in, Fp8Format::kE4M3, 0.7F),
            .dy = random(rows, out, Fp8Format::kE5M2, 900)};
  c.wide_x = WideNumbers(c.x);
  c.wide_weight = WideNumbers(c.weight);
  c.wide_dy = WideNumbers(c.dy);
  return c;
}

TEST(Fp8Test, ProductsEqualExactProductsOfTheNumbers) {
  torch::manual_seed(4);
  const Fp8Case c = RandomFp8Case(16, 48, 32);
  Tensor y = torch::full({16, 32}, kNan), dx = torch::full({16, 48}, kNan);
  const Tensor gradient = torch::full({32, 48}, kNan);
  Fp8LinearForward(c.x, c.weight, y);
  EXPECT_LT(RelativeError(y, c.wide_x.mm(c.wide_weight.t())), 1e-6);
  Fp8LinearInputGradient(c.dy, c.weight, dx);
  EXPECT_LT(RelativeError(dx, c.wide_dy.mm(c.wide_weight)), 1e-6);
  const Tensor product = c.wide_dy.t().mm(c.wide_x);
  Fp8LinearWeightGradient(c.dy, c.x, {gradient, false});
  EXPECT_LT(RelativeError(gradient, product), 1e-6);
  Fp8LinearWeightGradient(c.dy, c.x, {gradient, true});
  EXPECT_LT(RelativeError(gradient, 2 * product), 1e-6);
}

TEST(Fp8Test, SixteenBitResultsAreRoundedOnce) {
  torch::manual_seed(5);
  const Fp8Case c = RandomFp8Case(32, 64, 16);
  Tensor wide_y = torch::empty({32, 16}), wide_dx = torch::empty({32, 64});
  Fp8LinearForward(c.x, c.weight, wide_y);
  Fp8LinearInputGradient(c.dy, c.weight, wide_dx);
  for (const auto type : {torch::kBFloat16, torch::kHalf}) {
    Tensor y = torch::empty({32, 16}, type), dx = torch::empty({32, 64}, type);
    Fp8LinearForward(c.x, c.weight, y);
    Fp8LinearInputGradient(c.dy, c.weight, dx);
    EXPECT_TRUE(y.equal(wide_y.to(type)));
    EXPECT_TRUE(dx.equal(wide_dx.to(type)));
  }
}

}  // namespace
}  // namespace trainyard::trainer
