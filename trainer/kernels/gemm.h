// Products of row-major matrices by cuBLASLt, always summed in fp32.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// d = op(a) op(b) + c + bias, with op(a) [m, k], op(b) [k, n], c and d [m, n], all row-major and
// dense. The bias is added to every row.
struct GemmArguments {
  const void* a = nullptr;     // [m, k], or [k, m] if transpose_a; of input_type
  const void* b = nullptr;     // [k, n], or [n, k] if transpose_b; of input_type
  const void* c = nullptr;     // [m, n] of output_type, or null for none; may be d
  const void* bias = nullptr;  // [n] of output_type, or null for none
  void* d = nullptr;           // [m, n] of output_type
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  ElementType input_type = ElementType::kBFloat16;
  ElementType output_type = ElementType::kBFloat16;  // kFloat32 also for bf16 inputs
};

// Runs on the current device. Multiplies fp32 inputs in full fp32 (no TF32). The algorithm of a
// shape is the same in every run: from the tables of the build (gemm_tables/) if one has a usable
// entry, else the first proposed by cuBLASLt. Not thread-safe per device.
void Gemm(const GemmArguments& arguments, cudaStream_t stream);

// From now on, a shape that is in no table is tuned at its first product: times the algorithms
// proposed by cuBLASLt (at most 16) on the product's memory and keeps the fastest. If d is also c,
// the result is then wrong.
void TuneGemms();

// Writes the current device's algorithms from the tables and from TuneGemms, in the format of
// gemm_tables/. Throws KernelError if the file cannot be written.
void SaveGemmTable(const std::string& path);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_H_
