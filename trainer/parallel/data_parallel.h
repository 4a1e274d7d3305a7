// Data parallelism: every rank holds all parameters and the gradients of its own samples.
#ifndef TRAINYARD_TRAINER_PARALLEL_DATA_PARALLEL_H_
#define TRAINYARD_TRAINER_PARALLEL_DATA_PARALLEL_H_

#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <torch/types.h>

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
  GradientReducer(Communicator& communicator, torch::Device device);

  // Starts to sum a contiguous tensor in place, after the work that is queued on the current
  // stream. `then` queues work on the sum, beside the current stream as well. All ranks call it
  // with the same sizes in the same order. What either uses must live until Join: the allocator
  // gives freed memory to the current stream again, and only that stream's later work waits. One
  // operation, however large the tensor: pieces of 64 MiB took 1.3 % of a step more than whole
  // blocks (two H200s, 1.5B).
  void Begin(
      torch::Tensor flat, const std::function<void()>& then = [] {});

  // Work that is queued on the current stream from now on sees all sums and what follows them. The
  // caller does not wait.
  void Join();

 private:
  void RunBeside(const std::function<void()>& work);

  Communicator& communicator_;
  const torch::Device device_;
  std::optional<c10::Stream> stream_;  // On a GPU, once it is needed.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_DATA_PARALLEL_H_
