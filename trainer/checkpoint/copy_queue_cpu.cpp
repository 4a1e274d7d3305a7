// Copies from a GPU in a build without CUDA.
#include "trainer/checkpoint/copy_queue.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

std::unique_ptr<CopyQueue> MakeCopyQueue(torch::Device) {
  throw TrainerError(ExitCode::kInternal,
                     "checkpoint: a build without CUDA cannot copy from a GPU");
}

}  // namespace trainyard::trainer
