// The values of one optimizer step. The values are kept in device memory, so that the device never
// waits for the host during a step.
#ifndef TRAINYARD_TRAINER_KERNELS_OPTIMIZER_STEP_VALUES_H_
#define TRAINYARD_TRAINER_KERNELS_OPTIMIZER_STEP_VALUES_H_

#include <cmath>
#include <cstdint>

#include "trainer/kernels/host_device.h"

namespace trainyard::trainer {

// Indexes of the values in an fp64 array of kStepValues elements.
enum class StepValue : int64_t {
  // The host sets these values before the step.
  kStep = 0,  // Number of the update, from 1; seed of stochastic rounding.
  kLearningRate = 1,
  kStepSize = 2,        // learning rate / (1 - beta1^step)
  kRootCorrection = 3,  // sqrt(1 - beta2^step)
  // The step sums these values over the ranks. Before the step, the host sets kStopRequested,
  // kSaveRequested and kSnapshotCost. The step sets the others.
  kLoss = 4,           // Mean over the counted predictions of the global batch.
  kStopRequested = 5,  // Number of ranks that were asked to stop.
  kSaveRequested = 6,  // Number of ranks that were asked to save.
  kSquaredNorm = 7,    // Squared gradient norm. Each rank adds its counted elements.
  // Set only if the gradient noise scale is measured. kBigBatchSquares is the squared norm of the
  // gradients of the whole batch, before adaptive clipping. kSmallBatchSquares is the squared norm
  // of the gradients of one micro-batch per data-parallel rank.
  kBigBatchSquares = 8,
  kSmallBatchSquares = 9,
  kClippedUnits = 10,  // Number of units that adaptive clipping changed.
  kSnapshotCost = 11,  // Cost of each rank's latest snapshot, in steps; set by the host.
  kMtpLoss = 12,       // Part of the training loss from multi-token prediction; not in kLoss.
  kPresence = 13,      // Sum of the step numbers of the ranks (presence.h): did all take part?
  kUnread = 14,        // Number of ranks that could not read their tokens.
  // The step sets these values.
  kGradientNorm = 15,   // Norm after adaptive clipping, before clip_grad.
  kGradientScale = 16,  // Factor that clips the gradients and removes the loss scale.
  kFinite = 17,         // 1: the step is usable. 0: the step leaves the weights unchanged.
};

inline constexpr int64_t kStepValues = 18;

// True if the loss is finite and the squares of the clipped gradients are finite in fp32. If a
// square were infinite, Adam's second moment would become infinite and the weight would never
// change again.
TRAINYARD_HOST_DEVICE inline bool IsUsable(double norm, double gradient_scale, double loss) {
  constexpr double kLargestGradient = 1.8e19;  // Square root of the largest fp32 number, 3.4e38.
  return std::isfinite(loss) && norm * gradient_scale < kLargestGradient;
}

// The number of values that are summed over the ranks: kLoss to kUnread.
inline constexpr int64_t kSummedStepValues = 11;

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_KERNELS_OPTIMIZER_STEP_VALUES_H_
