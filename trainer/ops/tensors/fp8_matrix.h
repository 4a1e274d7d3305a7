// Matrices in FP8, and their scales.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_FP8_MATRIX_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_FP8_MATRIX_H_

#include <torch/types.h>

namespace trainyard::trainer {

// The two formats of "FP8 Formats for Deep Learning" (Micikevicius et al. 2022, arXiv 2209.05433).
// Inputs and weights use kE4M3. Gradients use kE5M2, which has a larger range and fewer digits.
enum class Fp8Format { kE4M3, kE5M2 };

// The scale of a tensor. Both tensors are fp32 and have one element, on the device of the data.
struct Fp8Scale {
  torch::Tensor scale;  // A number is multiplied by it before it is rounded to FP8.
  torch::Tensor amax;   // The largest absolute value seen since the last update.
};

// Which arrangements of a matrix a product needs. Products on Hopper need the summed dimension to
// be contiguous: the forward pass reads rows, the data gradient reads the columns of the weight,
// and the weight gradient reads the columns of both factors.
enum class Fp8Arrangement { kRows, kColumns, kBoth };

// A matrix in FP8. Elements are uint8 tensors with the bits of the numbers, because the oldest
// supported LibTorch has no FP8 types. A number of the matrix is its element divided by `scale`.
struct Fp8Matrix {
  Fp8Format format = Fp8Format::kE4M3;
  torch::Tensor rows;           // [m, n]; undefined if not requested.
  torch::Tensor columns;        // [n, m], the transposed matrix; undefined if not requested.
  torch::Tensor inverse_scale;  // fp32 [1]: 1 / scale.

  // Returns a matrix of other rows with the same format and scale, without columns.
  Fp8Matrix WithRows(const torch::Tensor& other) const {
    return {format, other, torch::Tensor(), inverse_scale};
  }
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_FP8_MATRIX_H_
