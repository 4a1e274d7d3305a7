// Transfer of tensors between pipeline stages.
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

// The receiving end of a link. Not thread-safe.
class StageReceiver {
 public:
  // Creates an empty tensor for a pass.
  using MakeTensor = std::function<torch::Tensor(const ChunkPass&)>;

  // link: may be null if nothing arrives; must outlive this. arrivals: in order.
  StageReceiver(Communicator* link, std::vector<ChunkPass> arrivals, MakeTensor make);

  // Starts receives up to the tensor of this pass. A running receive keeps a GPU from loading
  // kernels and memory, so no other work may come between this and the work the sender waits for.
  void Begin(const ChunkPass& pass);

  // Returns the tensor received for a pass. May be called once per pass. Work queued after the call
  // sees the received contents.
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

// The sending end of a link. Not thread-safe.
class StageSender {
 public:
  explicit StageSender(Communicator* link) : link_(link) {}

  // Starts a send and keeps the tensor until it is sent.
  void Send(torch::Tensor tensor);
  // Makes work queued from now on wait for all sends.
  void Join();

 private:
  Communicator* const link_;
  std::deque<Work> under_way_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_STAGE_STREAMS_H_
