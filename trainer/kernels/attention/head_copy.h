// Copies heads between tensors that order samples, tokens and heads differently.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_HEAD_COPY_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_HEAD_COPY_H_

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

namespace trainyard::trainer::kernels {

// Strides of [samples, length, heads] in vectors of 16 bytes.
struct HeadCopyStrides {
  int64_t sample = 0;
  int64_t token = 0;
  int64_t head = 0;
};

// All addresses are multiples of 16 bytes. The two memories must not overlap.
struct HeadCopyJob {
  const void* from = nullptr;
  void* to = nullptr;
  HeadCopyStrides from_strides;
  HeadCopyStrides to_strides;
  int64_t samples = 0;
  int64_t length = 0;
  int64_t heads = 0;
  int64_t head_vectors = 0;  // Size of a head in vectors of 16 bytes.
};

inline constexpr int kMaxHeadCopies = 16;

struct CopyHeadsArguments {
  std::array<HeadCopyJob, kMaxHeadCopies> jobs;
  int count = 0;  // <= kMaxHeadCopies
};

// Runs all copies in one kernel.
void CopyHeads(const CopyHeadsArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_HEAD_COPY_H_
