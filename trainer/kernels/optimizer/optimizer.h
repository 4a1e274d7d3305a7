// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101) in one pass over the data, and the gradient
// norm.
#ifndef TRAINYARD_TRAINER_KERNELS_OPTIMIZER_OPTIMIZER_H_
#define TRAINYARD_TRAINER_KERNELS_OPTIMIZER_OPTIMIZER_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"
#include "trainer/kernels/optimizer/step_values.h"

namespace trainyard::trainer::kernels {

// The fp32 master weight of a bf16 parameter is stored as the parameter and 16 additional bits. If
// b are the bits of the master weight, value = (b + 0x8000) >> 16 and low = b & 0xffff, so b =
// (value << 16) - (low < 0x8000 ? 0 : 0x10000) + low. This representation is exact for every finite
// weight below 3.3e38.
struct AdamWArguments {
  void* values = nullptr;            // [count]: fp32 master weights, or bf16 or fp16 values
  uint16_t* low_bits = nullptr;      // [count] for bf16 values; else null
  float* masters = nullptr;          // [count] fp32 master weights of fp16 values; else null
  const float* gradients = nullptr;  // [count]
  void* first_moment = nullptr;      // [count] of first_moment_type
  void* second_moment = nullptr;     // [count] of second_moment_type
  int64_t count = 0;
  int64_t first_element = 0;            // Element i uses first_element + i as its rounding seed.
  const double* step_values = nullptr;  // StepValue, device memory
  // fp64, because 1 - beta must be computed before rounding. With an fp32 beta2 of 0.9999, 1 -
  // beta2 would be wrong by 0.02%.
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double weight_decay = 0;  // 0 for parameters without weight decay
  ElementType value_type = ElementType::kBFloat16;
  ElementType first_moment_type = ElementType::kFloat32;  // bf16 is rounded stochastically.
  ElementType second_moment_type = ElementType::kFloat32;
};

// Does nothing if StepValue::kFinite is 0. Supports any count. All arrays of `count` elements must
// be aligned to 16 bytes.
void AdamW(const AdamWArguments& arguments, cudaStream_t stream);

// Computes the sum of the squares of `count` floats, in fp64. The order of additions depends only
// on the count.
struct SquaredSumArguments {
  const float* values = nullptr;
  int64_t count = 0;
  double* workspace = nullptr;  // SquaredSumWorkspaceDoubles(count) elements
  double* sum = nullptr;        // [1]; overwritten
};

int64_t SquaredSumWorkspaceDoubles(int64_t count);

void SquaredSum(const SquaredSumArguments& arguments, cudaStream_t stream);

// Computes StepValue::kGradientNorm, kGradientScale and kFinite from kLoss and the squared norms of
// the parts. kGradientScale is max_norm / norm if max_norm is not 0 and the norm exceeds max_norm;
// otherwise 1.
struct FinishNormArguments {
  const double* squared_norms = nullptr;  // [parts]
  int64_t parts = 0;
  double max_norm = 0;
  double* step_values = nullptr;
};

void FinishNorm(const FinishNormArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_OPTIMIZER_OPTIMIZER_H_
