// Shows in the sums of a step whether this rank has left the gang.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_PRESENCE_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_PRESENCE_H_

#include <torch/types.h>

#include <memory>

#include "trainer/parallel/interruption/interruption.h"

namespace trainyard::trainer {

// When a rank leaves the gang, it aborts its groups. Device work that is already queued then
// continues with arbitrary data, and could pass this data on in a later sum. A Presence therefore
// becomes 0 before the first group is aborted, and the device reads it when it executes the queued
// work. A sum that follows arbitrary data thus always lacks this rank.
class Presence {
 public:
  // `interruption` must outlive this object; if it is null, the rank never leaves.
  Presence(torch::Device device, Interruption* interruption);

  // Queues work that writes `value` into `target`, a device tensor of one float64, or 0 if this
  // rank has left by the time at which the device executes the work.
  void Write(double value, torch::Tensor target) const;

 private:
  void Leave();

  const torch::Tensor is_present_;  // 1 or 0; [], float64, in host memory that the device can read.
  std::unique_ptr<Interruption::Listener> listener_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_PRESENCE_H_
