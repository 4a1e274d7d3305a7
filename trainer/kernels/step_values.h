// Values of one optimizer step kept in device memory, so that the step never waits for the host.
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
  // Sums over the ranks. The host sets the flags before the step; the step sets the others.
  kLoss = 4,           // Mean over the counted predictions of the global batch.
  kStopRequested = 5,  // Number of ranks asked to stop.
  kSaveRequested = 6,  // Number of ranks asked to save.
  kSquaredNorm = 7,    // Squared gradient norm; each rank adds the elements it counts.
  // Squared norms of the gradients before adaptive clipping, and of the gradients of one
  // micro-batch per data-parallel rank. Set only for the gradient noise scale.
  kBigBatchSquares = 8,
  kSmallBatchSquares = 9,
  kClippedUnits = 10,  // Units changed by adaptive clipping.
  kSnapshotCost = 11,  // Cost of each rank's latest snapshot, in steps; set by the host.
  kPresence = 12,      // Step number from every rank: the sum shows whether all took part.
  // Set by the step itself.
  kGradientNorm = 13,   // After adaptive clipping, before clip_grad.
  kGradientScale = 14,  // Factor that clips the gradients.
  kFinite = 15,         // 1 if the step is usable, else 0: weights stay unchanged.
};

inline constexpr int64_t kStepValues = 16;

// True if loss and gradient norm are finite and fp32 can hold the squares of the gradients: an
// infinite second moment would permanently stop its weight from learning.
TRAINYARD_HOST_DEVICE inline bool IsUsable(double norm, double gradient_scale, double loss) {
  constexpr double kLargestGradient = 1.8e19;  // Square root of the largest fp32, 3.4e38.
  return std::isfinite(loss) && norm * gradient_scale < kLargestGradient;
}

// Number of values summed over the ranks: kLoss to kPresence.
inline constexpr int64_t kSummedStepValues = 9;

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_KERNELS_STEP_VALUES_H_
