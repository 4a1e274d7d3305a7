#include "trainer/ops/linear/linear.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct LinearShape {
  int64_t rows;
  int64_t in;
  int64_t out;
};

const LinearShape kLinearShapes[] = {
    {1, 64, 64},     {1, 1, 1},          {3, 7, 5},         {127, 33, 65},      {127, 96, 768},
    {384, 256, 503}, {4096, 2048, 1024}, {1000, 8192, 512}, {4096, 768, 50257}, {8192, 1024, 16392},
};

// Tensor cores truncate the low bits of a sum instead of rounding, so the errors of thousands of
// terms add up. The tolerance for fp32 is smaller, so that it excludes TF32, whose error would be
// 2e-4.
double ProductTolerance(torch::ScalarType type) {
  return type == torch::kFloat32 ? kLongSumTolerance : 5e-5;
}

struct LinearCase {
  Tensor x, weight, bias, dy, residual, gradient;
};

LinearCase RandomLinear(const LinearShape& shape, torch::ScalarType type) {
  return {.x = RandomOnGpu({shape.rows, shape.in}, type),
          .weight = RandomOnGpu({shape.out, shape.in}, type),
          .bias = RandomOnGpu({shape.out}, type),
          .dy = RandomOnGpu({shape.rows, shape.out}, type),
          .residual = RandomOnGpu({shape.rows, shape.out}, type),
          .gradient = RandomOnGpu({shape.out, shape.in}, torch::kFloat32)};
}

void ExpectForwardProducts(const LinearCase& c) {
  const double tolerance = ProductTolerance(c.x.scalar_type());
  const Tensor product = Wide(c.x).matmul(Wide(c.weight).t());
  Tensor y = Poisoned(c.dy.sizes(), c.x.scalar_type());
  LinearForward(c.x, c.weight, y);
  ExpectAccurate(y, product, tolerance);
  y.fill_(std::nan(""));
  LinearForwardWithResidual(c.x, c.weight, c.residual, y);
  const Tensor sum = product + Wide(c.residual);
  // cuBLASLt may round the product before it adds the residual. Then the error includes this
  // rounding.
  const double product_rounding = NormOf(Wide(product.to(y.scalar_type())) - product);
  const double scale = NormOf(sum);
  const double with_rounding = tolerance + product_rounding / (2 * scale);
  ExpectAccurate(y, sum, with_rounding, scale);
  Tensor over_residual = c.residual.clone();
  LinearForwardWithResidual(c.x, c.weight, over_residual, over_residual);
  ExpectAccurate(over_residual, sum, with_rounding, scale);
}

// cuBLASLt may round two intermediate results: the product, and the sum of product and residual.
// cuBLASLt adds the bias after that.
void ExpectForwardProductsWithBias(const LinearCase& c) {
  const double tolerance = ProductTolerance(c.x.scalar_type());
  const Tensor product = Wide(c.x).matmul(Wide(c.weight).t());
  const auto rounding = [&](const Tensor& exact) {
    return NormOf(Wide(exact.to(c.x.scalar_type())) - exact);
  };
  Tensor y = Poisoned(c.dy.sizes(), c.x.scalar_type());
  LinearForward(c.x, c.weight, y, c.bias);
  const Tensor sum = product + Wide(c.bias);
  ExpectAccurate(y, sum, tolerance + rounding(product) / (2 * NormOf(sum)));
  y.fill_(std::nan(""));
  LinearForwardWithResidual(c.x, c.weight, c.residual, y, c.bias);
  const Tensor with_residual = product + Wide(c.residual), whole = with_residual + Wide(c.bias);
  const double roundings = rounding(product) + rounding(with_residual);
  ExpectAccurate(y, whole, tolerance + roundings / (2 * NormOf(whole)));
}

void ExpectGradientProducts(const LinearCase& c) {
  const double tolerance = ProductTolerance(c.x.scalar_type());
  Tensor dx = Poisoned(c.x.sizes(), c.x.scalar_type());
  LinearInputGradient(c.dy, c.weight, dx);
  ExpectAccurate(dx, Wide(c.dy).matmul(Wide(c.weight)), tolerance);
  const Tensor product = Wide(c.dy).t().matmul(Wide(c.x));
  const Tensor gradient = Poisoned(c.weight.sizes(), torch::kFloat32);
  LinearWeightGradient(c.dy, c.x, {gradient, false});
  ExpectAccurate(gradient, product, tolerance);
  gradient.copy_(c.gradient);
  LinearWeightGradient(c.dy, c.x, {gradient, true});
  ExpectAccurate(gradient, product + Wide(c.gradient), tolerance);
}

TEST(LinearGpuTest, EqualsExactProductsForEveryShape) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const LinearShape& shape : kLinearShapes) {
      SCOPED_TRACE(ShapeName(type, {shape.rows, shape.in, shape.out}));
      const LinearCase c = RandomLinear(shape, type);
      ExpectForwardProducts(c);
      ExpectForwardProductsWithBias(c);
      ExpectGradientProducts(c);
    }
  }
}

TEST(LinearGpuTest, TakesMemoryAtOddAddresses) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    SCOPED_TRACE(ShapeName(type, {}));
    LinearCase c = RandomLinear({128, 256, 64}, type);
    c.x = AtOddAddress(c.x);
    c.dy = AtOddAddress(c.dy);
    c.bias = AtOddAddress(c.bias);
    ExpectForwardProducts(c);
    ExpectForwardProductsWithBias(c);
    ExpectGradientProducts(c);
  }
}

TEST(LinearGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(3);
  for (const torch::ScalarType type : kGpuTypes) {
    // These products have few results and long sums, which cuBLASLt splits.
    for (const LinearShape& shape : {LinearShape{16384, 256, 512}, LinearShape{384, 256, 503}}) {
      SCOPED_TRACE(ShapeName(type, {shape.rows, shape.in, shape.out}));
      const LinearCase c = RandomLinear(shape, type);
      ExpectSameBitsInEveryRun([&] {
        Tensor y = Poisoned(c.dy.sizes(), type), dx = Poisoned(c.x.sizes(), type);
        const Tensor overwritten = Poisoned(c.weight.sizes(), torch::kFloat32);
        const Tensor added = c.gradient.clone();
        LinearForwardWithResidual(c.x, c.weight, c.residual, y, c.bias);
        LinearInputGradient(c.dy, c.weight, dx);
        LinearWeightGradient(c.dy, c.x, {overwritten, false});
        LinearWeightGradient(c.dy, c.x, {added, true});
        return std::vector<Tensor>{y, dx, overwritten, added};
      });
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
