// Checks before training that the device computes correctly and that the groups' sums are correct.
// Finds a faulty device or link before it shows as an unexplained loss.
#ifndef TRAINYARD_TRAINER_START_START_CHECK_H_
#define TRAINYARD_TRAINER_START_START_CHECK_H_

#include <torch/types.h>

#include <functional>

#include "trainer/parallel/interruption.h"
#include "trainer/parallel/rank_groups.h"

namespace trainyard::trainer {

// Multiplies [M, K] by [K, N].
using MultiplyFunction = std::function<torch::Tensor(const torch::Tensor&, const torch::Tensor&)>;

// Multiplies small integers, whose products are exact in every number type, in float32 and, on a
// GPU, in bfloat16, and compares all results. Takes milliseconds. Throws
// TrainerError(kDeviceFault).
void CheckDevice(torch::Device device);
void CheckDevice(torch::Device device, const MultiplyFunction& multiply);

// Collective. Adds known numbers over all groups at once. Throws TrainerError(kTryAgain) naming the
// group with a wrong sum, or kPeerLost if a member is lost. A wrong sum may come from a peer that
// left to reconnect, so the check first waits for the order to reconnect. interruption: may be
// null.
void CheckGroups(const RankGroups& groups, torch::Device device,
                 Interruption* interruption = nullptr);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_START_CHECK_H_
