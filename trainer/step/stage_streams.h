// Transfers tensors between pipeline stages.
#ifndef TRAINYARD_TRAINER_STEP_STAGE_STREAMS_H_
#define TRAINYARD_TRAINER_STEP_STAGE_STREAMS_H_

#include <torch/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "trainer/parallel/communicator.h"
#include "trainer/step/pipeline_schedule.h"

namespace trainyard::trainer {

// The receiving end of a link between two stages. Not thread-safe.
class StageReceiver {
 public:
  // Creates an empty tensor for a pass.
  using MakeTensor = std::function<torch::Tensor(const ChunkPass&)>;

  // link: may be null if no tensor arrives; otherwise it must outlive this object. arrivals: the
  // passes whose tensors arrive, in order.
  StageReceiver(Communicator* link, std::vector<ChunkPass> arrivals, MakeTensor make);

  // Starts all receives up to and including the receive of this pass. While a receive is running, a
  // GPU cannot load kernels or allocate memory. Therefore, the caller must next queue the work for
  // which the sender waits, and no other work before it.
  void Begin(const ChunkPass& pass);

  // Returns the tensor received for a pass. Work queued after the call sees the received contents.
  // Must be called at most once per pass.
  torch::Tensor Receive(const ChunkPass& pass);

 private:
  struct Arriving {
    torch::Tensor tensor;
    Work work;
  };

  Communicator* const link_;
  std::deque<ChunkPass> arrivals_;  // Arrivals whose receive has not begun.
  const MakeTensor make_;
  std::map<ChunkPass, Arriving> arriving_;
};

// The sending end of a link between two stages. Not thread-safe.
class StageSender {
 public:
  explicit StageSender(Communicator* link) : link_(link) {}

  // Starts a send. Keeps the tensor alive until it has been sent.
  void Send(torch::Tensor tensor);
  // Work that is queued after this call will wait for all sends.
  void Join();

 private:
  Communicator* const link_;
  std::deque<Work> under_way_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_STAGE_STREAMS_H_
