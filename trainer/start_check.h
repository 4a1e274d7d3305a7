// Checks before training: that the device computes right, and that what the groups add up arrives
// right. A device or a link that does not is found here, and not by a loss that nobody can explain.
#ifndef TRAINYARD_TRAINER_START_CHECK_H_
#define TRAINYARD_TRAINER_START_CHECK_H_

#include <torch/types.h>

#include <functional>

#include "trainer/parallel/interruption.h"
#include "trainer/parallel/rank_groups.h"

namespace trainyard::trainer {

// Multiplies matrices: [M, K] by [K, N].
using MultiplyFunction = std::function<torch::Tensor(const torch::Tensor&, const torch::Tensor&)>;

// Multiplies small whole numbers, whose products every type of number holds exactly, in float32
// and, on a GPU, in bfloat16, and compares all results: some milliseconds. Throws
// TrainerError(kDeviceFault).
void CheckDevice(torch::Device device);
void CheckDevice(torch::Device device, const MultiplyFunction& multiply);

// Adds up known numbers over every group at once; all ranks call it. Throws TrainerError(kTryAgain)
// that names the group whose sum is wrong, and kPeerLost when a member is lost: also one that has
// left to connect anew, for whose order a wrong sum waits. interruption: may be null.
void CheckGroups(const RankGroups& groups, torch::Device device,
                 Interruption* interruption = nullptr);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_CHECK_H_
