// Checks before training that the device computes correctly and that the groups add correctly. This
// finds a faulty device or link before it causes an inexplicable loss value.
#ifndef TRAINYARD_TRAINER_START_START_CHECK_H_
#define TRAINYARD_TRAINER_START_START_CHECK_H_

#include <torch/types.h>

#include <functional>

#include "trainer/parallel/interruption/interruption.h"
#include "trainer/parallel/rank_groups.h"

namespace trainyard::trainer {

// Multiplies a matrix [M, K] by a matrix [K, N].
using MultiplyFunction = std::function<torch::Tensor(const torch::Tensor&, const torch::Tensor&)>;

// Multiplies matrices of small integers, whose products are exact in every number type, and
// compares all results. Uses float32 and, on a GPU, also bfloat16. Takes milliseconds. Throws
// TrainerError(kDeviceFault).
void CheckDevice(torch::Device device);
void CheckDevice(torch::Device device, const MultiplyFunction& multiply);

// Sums known numbers over all groups at once. All ranks must call CheckGroups. If a sum is wrong,
// throws TrainerError(kTryAgain) with the name of the group. Before throwing, waits for an order to
// reconnect, because a peer that has left to reconnect also makes sums wrong. Throws kPeerLost if a
// member is lost. interruption: may be null.
void CheckGroups(const RankGroups& groups, torch::Device device,
                 Interruption* interruption = nullptr);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_START_CHECK_H_
