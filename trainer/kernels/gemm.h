// Products of row-major matrices by cuBLASLt, always summed in fp32.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_H_

#include <cuda_runtime_api.h>

#include <string>

#include "trainer/kernels/gemm_arguments.h"

namespace trainyard::trainer::kernels {

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
