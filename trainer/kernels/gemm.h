// Matrix products of row-major matrices by cuBLASLt, always summed in fp32.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// d = op(a) op(b) + c + bias, with op(a) [m, k], op(b) [k, n], c and d [m, n], all row-major and
// dense, and the bias added to every row.
struct GemmArguments {
  const void* a = nullptr;     // [m, k], or [k, m] when transpose_a; of input_type
  const void* b = nullptr;     // [k, n], or [n, k] when transpose_b; of input_type
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

// Runs on the current device. fp32 inputs are multiplied in full fp32 (no TF32). The algorithm of a
// shape is the same in every run: from the tables that the build carries (gemm_tables/) when one
// has it, else the first that cuBLASLt proposes. One thread at a time for each device.
void Gemm(const GemmArguments& arguments, cudaStream_t stream);

// From now on a shape that no table has is timed at its first product: all algorithms that cuBLASLt
// proposes run on the product's memory, and the fastest is kept. A d that is also c is not right
// afterwards.
void TuneGemms();

// Writes the algorithms of the current device from the tables and from TuneGemms, in the form of
// gemm_tables/. Throws KernelError when the file cannot be written.
void SaveGemmTable(const std::string& path);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_H_
