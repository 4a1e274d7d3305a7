// Tensors on their way between pipeline stages.
#ifndef TRAINYARD_TRAINER_STEP_STAGE_STREAMS_H_
#define TRAINYARD_TRAINER_STEP_STAGE_STREAMS_H_

#include <torch/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
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

  // The tensor of a pass, to be asked for once: work that is queued from now on sees it. The one
  // that arrives next is on its way meanwhile.
  torch::Tensor Receive(const ChunkPass& pass);

 private:
  struct Arriving {
    ChunkPass pass;
    torch::Tensor tensor;
    Work work;
  };

  void BeginNext();

  Communicator* const link_;
  std::deque<ChunkPass> arrivals_;  // That are not on their way.
  const MakeTensor make_;
  std::optional<Arriving> arriving_;
  std::map<ChunkPass, torch::Tensor> arrived_;
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
