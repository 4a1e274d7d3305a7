// FP8 copies of matrices, and products of matrices in FP8.
#ifndef TRAINYARD_TRAINER_OPS_FP8_H_
#define TRAINYARD_TRAINER_OPS_FP8_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/gradient_target.h"

namespace trainyard::trainer {

// The two formats of "FP8 Formats for Deep Learning" (Micikevicius et al. 2022, arXiv 2209.05433).
// Inputs and weights use kE4M3. Gradients use kE5M2, which has a larger range and fewer digits.
enum class Fp8Format { kE4M3, kE5M2 };

// Returns the largest finite number of the format: 448 or 57,344.
double LargestFp8(Fp8Format format);

// All rows, columns and the number of rows of a product must be multiples of this number, because
// cuBLASLt's FP8 products on Hopper need addresses and strides that are multiples of 16 bytes.
inline constexpr int64_t kFp8Multiple = 16;

// The scale of a tensor. Both tensors are fp32 and have one element, on the device of the data.
struct Fp8Scale {
  torch::Tensor scale;  // A number is multiplied by it before it is rounded to FP8.
  torch::Tensor amax;   // The largest absolute value seen since the last update.
};

// Which arrangements of a matrix a product needs. Products on Hopper need the summed dimension to
// be contiguous: the forward pass reads rows, the data gradient reads the columns of the weight, and
// the weight gradient reads the columns of both factors.
enum class Fp8Arrangement { kRows, kColumns, kBoth };

// A matrix in FP8. Elements are uint8 tensors with the bits of the numbers, because the oldest
// supported LibTorch has no FP8 types. A number of the matrix is its element divided by `scale`.
struct Fp8Matrix {
  Fp8Format format = Fp8Format::kE4M3;
  torch::Tensor rows;           // [m, n]; undefined if not requested.
  torch::Tensor columns;        // [n, m], the transposed matrix; undefined if not requested.
  torch::Tensor inverse_scale;  // fp32 [1]: 1 / scale.
};

// amax = max(amax, largest absolute value of x). The result is NaN if x contains NaN, and infinity
// if x contains infinity. The result does not depend on the order of the elements.
void RaiseAmax(const torch::Tensor& x, const torch::Tensor& amax);

// Sets `scale` so that `amax` becomes the largest number of the format. Keeps the scale if amax is
// 0, infinite or NaN. Sets the largest finite fp32 number if the quotient is infinite. Both tensors
// have equal shapes. (Rules of NVIDIA's TransformerEngine for delayed scaling.)
void UpdateFp8Scale(const torch::Tensor& amax, Fp8Format format, const torch::Tensor& scale);

// Rounds x [m, n], fp32 or 16-bit, to the nearest numbers of the format (ties to even) after
// multiplication by the scale. Numbers beyond the largest finite number become the largest finite
// number; NaN becomes the element 0x7f, which is NaN. If scale.amax is defined, also raises it as
// RaiseAmax does. x must be contiguous and may be empty.
Fp8Matrix ToFp8(const torch::Tensor& x, Fp8Format format, const Fp8Scale& scale,
                Fp8Arrangement arrangement);

// Products of x [rows, in], weight [out, in] and dy [rows, out]. Sums are fp32. y, dx and the target
// have their own types. All sizes must be multiples of kFp8Multiple on a GPU.

// y = x weight^T. Reads the rows of both.
void Fp8LinearForward(const Fp8Matrix& x, const Fp8Matrix& weight, torch::Tensor& y);

// dx = dy weight. Reads the rows of dy and the columns of the weight.
void Fp8LinearInputGradient(const Fp8Matrix& dy, const Fp8Matrix& weight, torch::Tensor& dx);

// target = dy^T x or, if the target accumulates, target += dy^T x. Reads the columns of both.
void Fp8LinearWeightGradient(const Fp8Matrix& dy, const Fp8Matrix& x, const GradientTarget& target);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_FP8_H_
