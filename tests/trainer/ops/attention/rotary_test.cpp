#include "trainer/ops/attention/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr AttentionHeads kHeads{4, 2, 6};

RotaryTable Table(int64_t positions, int64_t size) {
  return MakeRotaryTable(torch::arange(positions), size, {}, torch::kFloat64);
}

Tensor Turned(const Tensor& packed, const RotaryTable& table, const AttentionHeads& heads,
              Rotation rotation = Rotation::kForward) {
  Tensor copy = packed.clone();
  Rotate(copy, table, heads, rotation);
  return copy;
}

TEST(RotaryTest, TableHoldsTheAngles) {
  const RotaryTable table = Table(8, 6);
  const double angle = 5.0 * std::pow(10000.0, -2.0 * 2 / 6);
  EXPECT_NEAR(table.cos[5][2].item<double>(), std::cos(angle), 1e-14);
  EXPECT_NEAR(table.sin[5][2].item<double>(), std::sin(angle), 1e-14);
}

// Distinguishes three cases by wavelength in tokens, as Llama 3.1's published code does.
double Llama31Frequency(double plain) {
  constexpr double kFactor = 8, kLow = 1, kHigh = 4, kLength = 8192;
  const double wavelength = 2 * M_PI / plain;
  if (wavelength < kLength / kHigh) return plain;
  if (wavelength > kLength / kLow) return plain / kFactor;
  const double smooth = (kLength / wavelength - kLow) / (kHigh - kLow);
  return (1 - smooth) * plain / kFactor + smooth * plain;
}

TEST(RotaryTest, LowFrequenciesAreScaledAsInLlama31) {
  constexpr int64_t kSize = 128, kPosition = 3;
  const RotaryTable table = MakeRotaryTable(torch::arange(4), kSize,
                                            {.base = 500000, .scaling_factor = 8}, torch::kFloat64);
  int64_t kept = 0, divided = 0;
  for (int64_t i = 0; i < kSize / 2; ++i) {
    const double plain = std::pow(500000.0, -2.0 * i / kSize), scaled = Llama31Frequency(plain);
    EXPECT_NEAR(table.sin[kPosition][i].item<double>(), std::sin(kPosition * scaled), 1e-14) << i;
    kept += scaled == plain;
    divided += scaled == plain / 8;
  }
  EXPECT_GT(kept, 20);
  EXPECT_GT(divided, 20);
  EXPECT_LT(kept + divided, kSize / 2) << "some lie between";
}

TEST(RotaryTest, TurnsQueryAndKeyOnly) {
  torch::manual_seed(1);
  const Tensor packed = RandomDouble({2, 5, 8, 6});
  const RotaryTable table = Table(5, 6);
  const Tensor turned = Turned(packed, table, kHeads);
  EXPECT_TRUE(turned.narrow(2, 6, 2).equal(packed.narrow(2, 6, 2)));
  EXPECT_LT(RelativeError(turned.narrow(2, 0, 6),
                          reference::Rotate(packed.narrow(2, 0, 6), table.cos, table.sin)),
            1e-14);
}

TEST(RotaryTest, TurnsTheFirstElementsOfAHeadWhereTheTableIsNarrower) {
  torch::manual_seed(5);
  const Tensor packed = RandomDouble({2, 5, 8, 6});
  const RotaryTable table = Table(5, 4);
  const Tensor turned = Turned(packed, table, kHeads);
  EXPECT_TRUE(turned.narrow(3, 4, 2).equal(packed.narrow(3, 4, 2)));
  EXPECT_LT(RelativeError(
                turned.narrow(2, 0, 6).narrow(3, 0, 4),
                reference::Rotate(packed.narrow(2, 0, 6).narrow(3, 0, 4), table.cos, table.sin)),
            1e-14);
  EXPECT_LT(RelativeError(Turned(turned, table, kHeads, Rotation::kBack), packed), 1e-14);
}

// Returns YaRN as in DeepSeek-V3's config.json: base 10000, 64 rotated elements, from 4096 tokens.
RotaryFrequencies YarnOfDeepSeekV3() {
  return {.scaling_factor = 40,
          .original_length = 4096,
          .yarn = YarnScaling{.mscale = 1, .mscale_all_dim = 1}};
}

// Frequency 10 makes more than 32 turns over 4096 tokens, and frequency 23 less than one turn.
TEST(RotaryTest, YarnDividesTheLowFrequencies) {
  const RotaryTable table =
      MakeRotaryTable(torch::arange(2), 64, YarnOfDeepSeekV3(), torch::kFloat64);
  for (int64_t i = 0; i < 32; ++i) {
    const double plain = std::pow(10000.0, -i / 32.0);
    const double kept = i <= 10 ? 1 : i >= 23 ? 0 : 1 - (i - 10) / 13.0;
    const double angle = plain * (kept + (1 - kept) / 40);
    EXPECT_NEAR(table.cos[1][i].item<double>(), std::cos(angle), 1e-14) << i;
    EXPECT_NEAR(table.sin[1][i].item<double>(), std::sin(angle), 1e-14) << i;
  }
}

TEST(RotaryTest, YarnMultipliesTheTableByTheQuotientOfItsMagnitudes) {
  EXPECT_NEAR(YarnMagnitude(40, 1) * YarnMagnitude(40, 1), 1.8739, 1e-4);
  RotaryFrequencies frequencies = YarnOfDeepSeekV3();
  const RotaryTable plain = MakeRotaryTable(torch::arange(3), 64, frequencies, torch::kFloat64);
  frequencies.yarn->mscale = 0.7;
  frequencies.yarn->mscale_all_dim = 0.2;
  const RotaryTable scaled = MakeRotaryTable(torch::arange(3), 64, frequencies, torch::kFloat64);
  const double magnitude = (1 + 0.07 * std::log(40)) / (1 + 0.02 * std::log(40));
  EXPECT_LT(RelativeError(scaled.cos, plain.cos * magnitude), 1e-14);
  EXPECT_LT(RelativeError(scaled.sin, plain.sin * magnitude), 1e-14);
}

TEST(RotaryTest, ProductsDependOnTheDistanceOnly) {
  torch::manual_seed(2);
  const Tensor row = RandomDouble({1, 1, 3, 6}).repeat({1, 9, 1, 1});
  const Tensor turned = Turned(row, Table(9, 6), {1, 1, 6});
  const auto product = [&](int64_t i, int64_t j) {
    return turned[0][i][0].dot(turned[0][j][1]).item<double>();
  };
  EXPECT_NEAR(product(7, 4), product(3, 0), 1e-12);
  EXPECT_GT(std::abs(product(7, 4) - product(7, 0)), 1e-6);
}

TEST(RotaryTest, TurningBackIsTheGradient) {
  torch::manual_seed(3);
  const RotaryTable table = Table(3, 4);
  const AttentionHeads heads{2, 1, 4};
  const Tensor packed = RandomDouble({2, 3, 4, 4});
  const auto expected = AutogradGradients(
      [&](const auto& in) {
        return torch::cat(
            {reference::Rotate(in[0].narrow(2, 0, 3), table.cos, table.sin), in[0].narrow(2, 3, 1)},
            2);
      },
      {packed});
  EXPECT_LT(
      RelativeError(Turned(OutputWeights(packed), table, heads, Rotation::kBack), expected[0]),
      1e-14);
}

TEST(RotaryTest, SixteenBitIsTurnedInSinglePrecision) {
  torch::manual_seed(4);
  const Tensor packed = torch::randn({1, 4, 8, 6}).to(torch::kBFloat16);
  const RotaryTable single = MakeRotaryTable(torch::arange(4), 6, {}, torch::kFloat32);
  EXPECT_TRUE(Turned(packed, single, kHeads)
                  .equal(Turned(packed.to(torch::kFloat32), single, kHeads).to(torch::kBFloat16)));
}

// A table with rows for every sample rotates each sample by that sample's positions.
TEST(RotaryTest, SamplesMayHavePositionsOfTheirOwn) {
  torch::manual_seed(9);
  const AttentionHeads heads{2, 1, 6};
  const torch::Tensor packed = RandomDouble({2, 4, heads.packed_heads(), heads.head_size});
  const torch::Tensor ids = torch::tensor({0, 1, 0, 1, 0, 1, 2, 0}, torch::kInt64);
  torch::Tensor actual = packed.clone();
  Rotate(actual, MakeRotaryTable(ids, 6, {}, torch::kFloat64), heads, Rotation::kForward);
  for (int64_t sample = 0; sample < 2; ++sample) {
    torch::Tensor expected = packed.narrow(0, sample, 1).clone();
    Rotate(expected, MakeRotaryTable(ids.narrow(0, 4 * sample, 4), 6, {}, torch::kFloat64), heads,
           Rotation::kForward);
    EXPECT_TRUE(actual.narrow(0, sample, 1).equal(expected));
  }
}

}  // namespace
}  // namespace trainyard::trainer
