// Gradients of the losses that balance the load of experts, and the counts that these losses use.
// The formulas and their sources are in trainer/ops/experts/balance_loss.h.
#ifndef TRAINYARD_TRAINER_KERNELS_EXPERTS_BALANCE_LOSS_H_
#define TRAINYARD_TRAINER_KERNELS_EXPERTS_BALANCE_LOSS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/experts/routing.h"

namespace trainyard::trainer::kernels {

// Row i belongs to sequence (first + i) / length.
struct SequenceRows {
  int64_t count = 1;
  int64_t length = 0;
  int64_t first = 0;
};

// Sets counts, [sequences, experts], to the number of slots of each expert in chosen, [rows, topk].
// Negative expert numbers are not counted.
void CountExperts(const int64_t* chosen, const RoutingShape& shape, int64_t topk,
                  const SequenceRows& sequences, int64_t* counts, cudaStream_t stream);

struct BalanceGradientArguments {
  const float* scores = nullptr;    // [rows, experts]
  const int64_t* counts = nullptr;  // [sequences, experts]
  float* d_logits = nullptr;        // [rows, experts]; the gradient is added
  double factor = 0;                // counts * factor is the gradient of the normalized scores
};

void AddBalanceGradient(const BalanceGradientArguments& arguments, const RoutingShape& shape,
                        const RoutingForm& form, const SequenceRows& sequences,
                        cudaStream_t stream);

// Adds factor * softmax(logits) * log-sum-exp(logits) to d_logits, [rows, experts].
void AddZLossGradient(const float* logits, const RoutingShape& shape, float factor, float* d_logits,
                      cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_EXPERTS_BALANCE_LOSS_H_
