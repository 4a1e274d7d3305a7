// Checks before training that the device computes correctly and that the sums of the groups are
// correct. A faulty device or link is thus found before it causes an unexplained loss.
#ifndef TRAINYARD_TRAINER_START_START_CHECK_H_
#define TRAINYARD_TRAINER_START_START_CHECK_H_

#include <torch/types.h>

#include <functional>

#include "trainer/parallel/interruption.h"
#include "trainer/parallel/rank_groups.h"

namespace trainyard::trainer {

// Multiplies [M, K] by [K, N].
using MultiplyFunction = std::function<torch::Tensor(const torch::Tensor&, const torch::Tensor&)>;

// Multiplies small integers, whose products are exact in every number type, and compares all
// results. Uses float32 and, on a GPU, also bfloat16. Takes milliseconds. Throws
// TrainerError(kDeviceFault).
void CheckDevice(torch::Device device);
void CheckDevice(torch::Device device, const MultiplyFunction& multiply);

// Adds known numbers over all groups at once. All ranks must call it. Throws
// TrainerError(kTryAgain) naming the group if a sum is wrong, or kPeerLost if a member is lost. A
// sum may be wrong because a peer has left to reconnect, so the check then first waits for the
// order to reconnect. interruption: may be null.
void CheckGroups(const RankGroups& groups, torch::Device device,
                 Interruption* interruption = nullptr);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_START_CHECK_H_
