// Multiplies row-major matrices with cuBLASLt. Sums are always fp32.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_H_

#include <cuda_runtime_api.h>

#include <string>

#include "trainer/kernels/gemm/gemm_arguments.h"

namespace trainyard::trainer::kernels {

// Queues the product on the stream, for the current device. fp32 inputs are multiplied in full fp32
// (no TF32). Unless TuneGemms was called, every run uses the same algorithm for a shape: a usable
// entry in the tables of the build (gemm_tables/) or, if there is none, the first algorithm that
// cuBLASLt proposes. Only one thread per device may call this at a time. Throws KernelError if
// cuBLASLt has no FP8 product of the given form.
void Gemm(const GemmArguments& arguments, cudaStream_t stream);

// Enables tuning. From now on, the first product of a shape without a table entry measures the
// algorithms that cuBLASLt proposes (at most 16) in the memory of the product, and keeps the
// fastest. If d and c are the same memory, the result of that product is wrong, because each timed
// run adds to d.
void TuneGemms();

// Writes the current device's algorithms, both from the tables and from tuning, to a file in the
// format of gemm_tables/. Throws KernelError if the file cannot be written.
void SaveGemmTable(const std::string& path);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_H_
