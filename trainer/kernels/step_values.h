// Numbers of one optimizer step that stay in the device's memory, so that the step never waits for
// the host.
#ifndef TRAINYARD_TRAINER_KERNELS_STEP_VALUES_H_
#define TRAINYARD_TRAINER_KERNELS_STEP_VALUES_H_

#include <cmath>
#include <cstdint>

#include "trainer/kernels/host_device.h"

namespace trainyard::trainer {

// Index into an fp64 array of kStepValues elements.
enum class StepValue : int64_t {
  // Set by the host before the step.
  kStep = 0,  // Number of the update, from 1; seeds stochastic rounding.
  kLearningRate = 1,
  kStepSize = 2,        // learning rate / (1 - beta1^step)
  kRootCorrection = 3,  // sqrt(1 - beta2^step)
  // Sums over the ranks. The flags are set by the host before the step, the others by the step.
  kLoss = 4,           // Mean over the tokens of the global batch.
  kStopRequested = 5,  // Ranks that were asked to stop.
  kSaveRequested = 6,  // Ranks that were asked to save.
  kSquaredNorm = 7,    // Of the gradients, without what other ranks count.
  // Of the gradients before adaptive clipping, and of those of one micro-batch for each
  // data-parallel
  // rank; set where the gradient noise scale is asked for.
  kBigBatchSquares = 8,
  kSmallBatchSquares = 9,
  kClippedUnits = 10,  // Units that adaptive clipping has changed.
  kSnapshotCost = 11,  // Of each rank's newest snapshot, in steps; set by the host.
  kPresence = 12,      // The step's number from every rank: the sum tells whether all took part.
  // Set by the step itself.
  kGradientNorm = 13,   // Before clip_grad, and behind adaptive clipping.
  kGradientScale = 14,  // Factor that clips the gradients.
  kFinite = 15,         // 1 when the step is usable, else 0: it changes no weight.
};

inline constexpr int64_t kStepValues = 16;

// True for a loss and a gradient norm that are finite, and gradients whose squares fp32 can hold:
// an infinite second moment would stop its weight from learning for ever.
TRAINYARD_HOST_DEVICE inline bool IsUsable(double norm, double gradient_scale, double loss) {
  constexpr double kLargestGradient = 1.8e19;  // The root of the largest fp32, 3.4e38.
  return std::isfinite(loss) && norm * gradient_scale < kLargestGradient;
}

// The values that are summed over the ranks: kLoss and those behind it.
inline constexpr int64_t kSummedStepValues = 9;

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_KERNELS_STEP_VALUES_H_
