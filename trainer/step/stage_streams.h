// Tensors on their way between pipeline stages.
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

// The receiving end of a link. One thread at a time.
class StageReceiver {
 public:
  // An empty tensor for a pass.
  using MakeTensor = std::function<torch::Tensor(const ChunkPass&)>;

  // link: may be null where nothing arrives; must outlive this. arrivals: in their order.
  StageReceiver(Communicator* link, std::vector<ChunkPass> arrivals, MakeTensor make);

  // Begins to receive until the tensor of this pass is on its way. A receive that is under way
  // keeps a GPU from loading kernels and memory: nothing may come between this and the work that
  // the sender waits for.
  void Begin(const ChunkPass& pass);

  // The tensor of a pass, to be asked for once: work that is queued from now on sees it.
  torch::Tensor Receive(const ChunkPass& pass);

 private:
  struct Arriving {
    torch::Tensor tensor;
    Work work;
  };

  Communicator* const link_;
  std::deque<ChunkPass> arrivals_;  // That are not on their way.
  const MakeTensor make_;
  std::map<ChunkPass, Arriving> arriving_;
};

// The sending end of a link. One thread at a time.
class StageSender {
 public:
  explicit StageSender(Communicator* link) : link_(link) {}

  // Begins to send; the tensor is kept until it is sent.
  void Send(torch::Tensor tensor);
  // Work that is queued from now on sees that everything is sent.
  void Join();

 private:
  Communicator* const link_;
  std::deque<Work> under_way_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_STAGE_STREAMS_H_
