// Data parallelism: every rank holds all parameters and the gradients of its own samples.
#ifndef TRAINYARD_TRAINER_PARALLEL_DATA_PARALLEL_H_
#define TRAINYARD_TRAINER_PARALLEL_DATA_PARALLEL_H_

#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Sums tensors of all ranks while other work goes on: on a GPU on a stream of its own. The order of
// the sums is the same in every run and on every rank. The loss is divided by the tokens of the
// global batch before the backward pass; the sum of gradients is therefore that of the mean over
// tokens, however unevenly they lie. One thread at a time.
class GradientReducer {
 public:
  // The communicator must outlive this.
  GradientReducer(Communicator& communicator, torch::Device device, int64_t bucket_elements);

  // Starts to sum a flat, contiguous tensor in place, bucket by bucket, after the work that is
  // queued on the current stream. All ranks call it with the same sizes in the same order. The
  // tensor must live until Join: the allocator gives freed memory to the current stream again, and
  // only that stream's later work waits for the sums.
  void Begin(const torch::Tensor& flat);

  // Work that is queued on the current stream from now on sees all sums. The caller does not wait.
  void Join();

 private:
  void RunBeside(const std::function<void()>& work);

  Communicator& communicator_;
  const torch::Device device_;
  const int64_t bucket_elements_;
  std::optional<c10::Stream> stream_;  // On a GPU, once it is needed.
};

// 64 MiB of fp32: large enough for bandwidth, small enough to overlap one with the next.
inline constexpr int64_t kGradientBucketElements = int64_t{1} << 24;

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_DATA_PARALLEL_H_
