// FP8 copies of matrices, and products of matrices in FP8.
#ifndef TRAINYARD_TRAINER_OPS_FP8_FP8_H_
#define TRAINYARD_TRAINER_OPS_FP8_FP8_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/tensors/fp8_matrix.h"
#include "trainer/ops/tensors/gradient_target.h"

namespace trainyard::trainer {

// Returns the largest finite number of the format: 448 or 57,344.
double LargestFp8(Fp8Format format);

// All rows, columns and the number of rows of a product must be multiples of this number, because
// cuBLASLt's FP8 products on Hopper need addresses and strides that are multiples of 16 bytes.
inline constexpr int64_t kFp8Multiple = 16;

// amax = max(amax, largest absolute value of x). The result is NaN if x or amax contains NaN, and
// infinity if x contains infinity. The result does not depend on the order of the elements. x is a
// contiguous tensor of any shape, fp32 or 16-bit. Does nothing if x is empty. Like all functions of
// this file, accepts fp64 tensors too, for tests; products then have fp64 sums.
void RaiseAmax(const torch::Tensor& x, const torch::Tensor& amax);

// Sets `scale` so that `amax` becomes the largest number of the format. Keeps the scale if amax is
// 0, infinite or NaN. Sets the largest finite fp32 number if the quotient is infinite. Both tensors
// have equal shapes. (Rules of NVIDIA's TransformerEngine for delayed scaling.)
void UpdateFp8Scale(const torch::Tensor& amax, Fp8Format format, const torch::Tensor& scale);

// Rounds x [m, n], contiguous and fp32 or 16-bit, to the nearest numbers of the format (ties to
// even) after multiplication by the scale. The multiplication is in fp32. Numbers beyond the
// largest finite number become the largest finite number. NaN becomes the element 0x7f, which is
// NaN. If scale.amax is defined, also raises it as RaiseAmax does. Allocates the result.
Fp8Matrix ToFp8(const torch::Tensor& x, Fp8Format format, const Fp8Scale& scale,
                Fp8Arrangement arrangement);

// Returns the numbers that FP8 elements (uint8) of the format stand for, in fp32 and not divided by
// a scale. The shape is that of `elements`.
torch::Tensor Fp8Numbers(const torch::Tensor& elements, Fp8Format format);

// Products of x [rows, in], weight [out, in] and dy [rows, out]. Sums are fp32. y and dx are fp32
// or 16-bit, the target is fp32. All sizes must be multiples of kFp8Multiple on a GPU. Two factors
// in kE5M2 have no product there.

// y = x weight^T. Reads the rows of both.
void Fp8LinearForward(const Fp8Matrix& x, const Fp8Matrix& weight, torch::Tensor& y);

// dx = dy weight. Reads the rows of dy and the columns of the weight.
void Fp8LinearInputGradient(const Fp8Matrix& dy, const Fp8Matrix& weight, torch::Tensor& dx);

// target = dy^T x or, if the target accumulates, target += dy^T x. Reads the columns of both.
void Fp8LinearWeightGradient(const Fp8Matrix& dy, const Fp8Matrix& x, const GradientTarget& target);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_FP8_FP8_H_
