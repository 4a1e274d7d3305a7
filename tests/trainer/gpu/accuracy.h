// Error bounds for the results of kernels, and functions that create test tensors.
#ifndef TRAINYARD_TESTS_TRAINER_GPU_ACCURACY_H_
#define TRAINYARD_TESTS_TRAINER_GPU_ACCURACY_H_

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {

// The types in which kernels can store tensors.
inline constexpr torch::ScalarType kGpuTypes[] = {torch::kFloat32, torch::kBFloat16, torch::kHalf};

inline torch::Device Gpu() { return {torch::kCUDA, 0}; }

inline torch::TensorOptions OnGpu(torch::ScalarType type) {
  return torch::TensorOptions().dtype(type).device(Gpu());
}

// Returns standard normal numbers, rounded to `type`.
inline torch::Tensor RandomOnGpu(std::vector<int64_t> shape, torch::ScalarType type) {
  return torch::randn(shape, OnGpu(torch::kFloat32)).to(type);
}

inline torch::Tensor Wide(const torch::Tensor& tensor) { return tensor.to(torch::kFloat64); }

// Returns an output tensor filled with NaN, so that elements that a kernel does not write are
// detected.
inline torch::Tensor Poisoned(at::IntArrayRef shape, torch::ScalarType type) {
  return torch::full(shape, std::nan(""), OnGpu(type));
}

// Returns a copy that begins one element after a vector-aligned address.
inline torch::Tensor AtOddAddress(const torch::Tensor& tensor) {
  const torch::Tensor flat = torch::empty({tensor.numel() + 1}, tensor.options());
  return flat.narrow(0, 1, tensor.numel()).view(tensor.sizes()).copy_(tensor);
}

inline double NormOf(const torch::Tensor& tensor) { return Wide(tensor).norm().item<double>(); }

// Compares with `expected`, which is in fp64. Let e be the kernel's error in fp32 before the result
// is rounded, with |e| <= tolerance * scale. Let r be the rounding to the type of `actual`. The
// permitted error is |r(x) - x| + 2|e|. e is counted twice, because e can also change r:
// |r(x + e) - x| <= |r(x) - x| + 2|e|.
inline void ExpectAccurate(const torch::Tensor& actual, const torch::Tensor& expected,
                           double tolerance, double scale) {
  const double rounding = NormOf(Wide(expected.to(actual.scalar_type())) - expected);
  EXPECT_LE(NormOf(Wide(actual) - expected), rounding + 2 * tolerance * scale)
      << "norm of the exact result: " << NormOf(expected);
}

// Uses the norm of `expected` as the scale, for sums in which the terms do not cancel each other.
inline void ExpectAccurate(const torch::Tensor& actual, const torch::Tensor& expected,
                           double tolerance) {
  ExpectAccurate(actual, expected, tolerance, NormOf(expected));
}

// Tolerance for sums of few terms and for functions of one element.
inline constexpr double kShortSumTolerance = 1e-6;
// Tolerance for sums of thousands of terms.
inline constexpr double kLongSumTolerance = 5e-6;

// True if all bits are equal, including the bits of NaNs.
inline bool SameBits(const torch::Tensor& a, const torch::Tensor& b) {
  const auto bytes = [](const torch::Tensor& t) { return t.reshape({-1}).view(torch::kUInt8); };
  return a.scalar_type() == b.scalar_type() && a.numel() == b.numel() && bytes(a).equal(bytes(b));
}

// Calls `run` several times and expects results with the same bits. Allocates memory of varying
// sizes between the calls, so that the results have different addresses.
template <typename Run>
void ExpectSameBitsInEveryRun(const Run& run) {
  const std::vector<torch::Tensor> first = run();
  std::vector<torch::Tensor> held;
  for (int repeat = 1; repeat < 5; ++repeat) {
    held.push_back(torch::empty({1000 * repeat + 24}, OnGpu(torch::kUInt8)));
    held.push_back(first.front().clone());
    const std::vector<torch::Tensor> again = run();
    for (size_t i = 0; i < first.size(); ++i) {
      EXPECT_TRUE(SameBits(again[i], first[i])) << "result " << i << " of repeat " << repeat;
    }
  }
}

// Returns a text that describes a shape in messages.
inline std::string ShapeName(torch::ScalarType type, std::initializer_list<int64_t> sizes) {
  std::string name = torch::toString(type);
  for (const int64_t size : sizes) name += " " + std::to_string(size);
  return name;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_GPU_ACCURACY_H_
