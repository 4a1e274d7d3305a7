// Data parallelism: every rank holds all parameters and the gradients of its own samples.
#ifndef TRAINYARD_TRAINER_PARALLEL_DATA_PARALLEL_H_
#define TRAINYARD_TRAINER_PARALLEL_DATA_PARALLEL_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Sums the gradients of all ranks, bucket by bucket in the order of the buffer, so that the result
// is the same in every run and on every rank. The loss is divided by the tokens of the global batch
// before the backward pass; the sum is therefore the mean over tokens, however unevenly they lie.
class GradientReducer {
 public:
  // gradients: flat and contiguous, shared and summed in place. The communicator must outlive this.
  GradientReducer(Communicator& communicator, torch::Tensor gradients, int64_t bucket_elements);

  // Call once a step, after the last backward pass. Buckets are the seam for overlap: a bucket may
  // start as soon as its gradients are complete, as long as the order stays.
  void Reduce();

 private:
  Communicator& communicator_;
  torch::Tensor gradients_;
  int64_t bucket_elements_;
};

// 64 MiB of fp32: large enough for bandwidth, small enough to overlap one with the next.
inline constexpr int64_t kGradientBucketElements = int64_t{1} << 24;

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_DATA_PARALLEL_H_
