// Fills a part of a matrix with normal random numbers.
#ifndef TRAINYARD_TRAINER_KERNELS_OPTIMIZER_NORMAL_VALUES_H_
#define TRAINYARD_TRAINER_KERNELS_OPTIMIZER_NORMAL_VALUES_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace trainyard::trainer::kernels {

struct NormalValuesArguments {
  float* values = nullptr;  // [rows, columns], dense
  uint64_t key = 0;
  float std = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t first = 0;   // Index of the part's first element in the whole matrix.
  int64_t stride = 0;  // Columns of the whole matrix.
};

// Sets each element to std * StandardNormal(key, index of the element in the whole matrix).
void NormalValues(const NormalValuesArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_OPTIMIZER_NORMAL_VALUES_H_
