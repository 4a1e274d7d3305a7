// Operands of a matrix product.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_ARGUMENTS_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_ARGUMENTS_H_

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

inline constexpr int64_t kVaryingRowStep = 128;

// The last operation on a sum, before it is rounded and stored. GELU is the tanh approximation.
enum class GemmEpilogue {
  kNone,
  kGelu,          // d = GELU(sum); the sum is stored in gelu_input.
  kGeluGradient,  // d = sum * GELU'(gelu_input).
};

// Computes d = op(a) op(b) + c + bias, where op(a) is [m, k], op(b) is [k, n], and c and d are [m,
// n]. All matrices are row-major and dense. The bias is added to every row.
//
// FP8: a and b have an FP8 type each, but not both kFp8E5M2. op(a) op(b) is multiplied by a_factor
// and b_factor. The summed dimension must be contiguous in both (transpose_b without transpose_a),
// m, n and k must be multiples of 16, addresses must be multiples of 16 bytes, and there is no
// bias.
struct GemmArguments {
  const void* a = nullptr;     // [m, k], or [k, m] if transpose_a; of a_type
  const void* b = nullptr;     // [k, n], or [n, k] if transpose_b; of b_type
  const void* c = nullptr;     // [m, n] of output_type, or null for none; may equal d
  const void* bias = nullptr;  // [n] of output_type, or null for none
  void* d = nullptr;           // [m, n] of output_type
  // kGelu and kGeluGradient: only for bf16, with an n that is a multiple of 8, without c.
  GemmEpilogue epilogue = GemmEpilogue::kNone;
  void* gelu_input = nullptr;  // [m, n] of output_type; null for kNone.
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  ElementType a_type = ElementType::kBFloat16;
  ElementType b_type = ElementType::kBFloat16;       // Equal to a_type, unless both are FP8.
  ElementType output_type = ElementType::kBFloat16;  // 16-bit and FP8 may have kFloat32 output.
  // For FP8 only: [1] in device memory, at addresses that are multiples of 16.
  const float* a_factor = nullptr;
  const float* b_factor = nullptr;
  // FP8 only. True: tensor cores add all terms of a sum, in fewer than the 24 bits of fp32. False:
  // partial sums are added in fp32 at intervals, which is slower.
  bool fast_accumulation = false;
  // True if m (or k, if transpose_a) is a number of rows that changes from call to call. Products
  // share an algorithm if their row counts are equal when rounded up to kVaryingRowStep.
  bool rows_vary = false;
};

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_ARGUMENTS_H_
