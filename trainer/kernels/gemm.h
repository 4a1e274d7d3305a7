// Products of row-major matrices by cuBLASLt, always summed in fp32.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_H_

#include <cuda_runtime_api.h>

#include <string>

#include "trainer/kernels/gemm_arguments.h"

namespace trainyard::trainer::kernels {

// Queues the product on the stream, for the current device. fp32 inputs are multiplied in full fp32
// (no TF32). Unless TuneGemms was called, every run uses the same algorithm for a shape: the usable
// entry in the tables of the build (gemm_tables/) or, without one, the first algorithm that
// cuBLASLt proposes. Only one thread per device may call this at a time.
void Gemm(const GemmArguments& arguments, cudaStream_t stream);

// From now on, a shape that is in no table is tuned at its first product: the algorithms proposed
// by cuBLASLt (at most 16) are timed on the product's memory, and the fastest is kept. If d is also
// c, the result of that product is wrong.
void TuneGemms();

// Writes the current device's algorithms from the tables and from TuneGemms, in the format of
// gemm_tables/. Throws KernelError if the file cannot be written.
void SaveGemmTable(const std::string& path);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_H_
