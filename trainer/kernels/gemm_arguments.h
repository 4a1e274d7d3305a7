// Operands of a matrix product.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_ARGUMENTS_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_ARGUMENTS_H_

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

inline constexpr int64_t kVaryingRowStep = 128;

// Computes d = op(a) op(b) + c + bias, where op(a) is [m, k], op(b) is [k, n], and c and d are [m,
// n]. All matrices are row-major and dense. The bias is added to every row.
struct GemmArguments {
  const void* a = nullptr;     // [m, k], or [k, m] if transpose_a; of input_type
  const void* b = nullptr;     // [k, n], or [n, k] if transpose_b; of input_type
  const void* c = nullptr;     // [m, n] of output_type, or null for none; may equal d
  const void* bias = nullptr;  // [n] of output_type, or null for none
  void* d = nullptr;           // [m, n] of output_type
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  ElementType input_type = ElementType::kBFloat16;
  ElementType output_type = ElementType::kBFloat16;  // 16-bit inputs may have kFloat32 output.
  // True if m (or k, if transpose_a) is a number of rows that changes from call to call. Products
  // share an algorithm if their row counts are equal when rounded up to kVaryingRowStep.
  bool rows_vary = false;
};

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_ARGUMENTS_H_
