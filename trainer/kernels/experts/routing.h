// Scores of experts, the choice of experts for each row, their weights, and the gradient of the
// logits. The formulas and their sources are in trainer/ops/experts/routing.h.
#ifndef TRAINYARD_TRAINER_KERNELS_EXPERTS_ROUTING_H_
#define TRAINYARD_TRAINER_KERNELS_EXPERTS_ROUTING_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace trainyard::trainer::kernels {

struct RoutingForm {
  bool is_softmax = true;     // False: sigmoid.
  bool is_normalised = true;  // Divides the weights of a row by their sum.
  float scaling = 1;
  int64_t topk = 1;
  int64_t groups = 0;      // 0: no groups; otherwise, groups of at least 2 experts.
  int64_t group_topk = 0;  // Groups per row.
};

// Rows of logits or scores. There are at most kMaxExperts (slot_order.h) experts.
struct RoutingShape {
  int64_t rows = 0;
  int64_t experts = 0;
};

// Sets scores, [rows, experts], to the softmax or sigmoid of logits, [rows, experts].
void RouterScores(const float* logits, const RoutingShape& shape, const RoutingForm& form,
                  float* scores, cudaStream_t stream);

// Sets chosen, [rows, topk], to the experts with the highest scores + bias, highest first. Among
// equal values, the expert with the lower number comes first. `bias` is [experts], or null.
void ChooseExperts(const float* scores, const float* bias, const RoutingShape& shape,
                   const RoutingForm& form, int64_t* chosen, cudaStream_t stream);

// Sets weights, [rows, topk].
void ExpertWeights(const float* scores, const int64_t* chosen, const RoutingShape& shape,
                   const RoutingForm& form, float* weights, cudaStream_t stream);

struct LogitGradientArguments {
  const float* d_weights = nullptr;  // [rows, topk]
  const float* scores = nullptr;     // [rows, experts]
  const int64_t* chosen = nullptr;   // [rows, topk]
  float* d_logits = nullptr;         // [rows, experts]
};

void RouterLogitGradient(const LogitGradientArguments& arguments, const RoutingShape& shape,
                         const RoutingForm& form, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_EXPERTS_ROUTING_H_
