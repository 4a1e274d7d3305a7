// Scores of the experts for each row, the choice of experts, and the losses that balance their
// load.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_ROUTER_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_ROUTER_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "proto/contract/model_config.h"
#include "trainer/model/experts/capacity_limit.h"
#include "trainer/model/parallel/model_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/model/pass/expert_choice.h"
#include "trainer/model/pass/micro_batch.h"
#include "trainer/ops/experts/balance_loss.h"
#include "trainer/ops/experts/routing.h"

namespace trainyard::trainer {

// Logits are the product of rows and the router's weight [experts, hidden], in the compute type:
// bf16 logits would be equal for many experts and lead to a different choice than fp32 logits.
// Every tensor-parallel rank has the whole weight and routes its own rows.
class Router {
 public:
  // `prefix` precedes the logical names of the feed-forward layer.
  static ParameterDeclaration Declare(const ModelConfig& model, const std::string& prefix,
                                      const TensorParallel& tensor);

  // `weight` is the index of the weight in the store, which must outlive this object.
  Router(const ModelConfig& model, const ParameterStore& store, int64_t weight, int64_t layer,
         const ModelParallel& parallel);

  // Chooses experts for the rows of x and stores the choice in the micro-batch. A repeated pass
  // reuses the stored choice. Returns the weights of the chosen experts, [rows, topk], in the
  // compute type. Keeps the logits in the stash.
  torch::Tensor Forward(const torch::Tensor& x, MicroBatch& micro_batch) const;

  // Adds to dx the gradient of x that results from the gradient of the weights. Includes the
  // gradients of the balance losses.
  void Backward(const torch::Tensor& d_weights, const ExpertChoice& choice, const torch::Tensor& x,
                MicroBatch& micro_batch, WeightGradients& gradients, torch::Tensor& dx) const;

 private:
  ExpertChoice Choose(const torch::Tensor& scores, const MicroBatch& micro_batch) const;
  ExpertChoice Limit(const torch::Tensor& scores, const torch::Tensor& experts,
                     const MicroBatch& micro_batch) const;
  torch::Tensor ChosenExperts(const ExpertChoice& choice) const;
  void Measure(const torch::Tensor& logits, const torch::Tensor& scores,
               const ExpertBalance& balance) const;
  void AddBalanceGradients(const torch::Tensor& logits, const torch::Tensor& scores,
                           const MicroBatch& micro_batch, torch::Tensor& d_logits) const;
  BalanceSequences SequencesOf(const MicroBatch& micro_batch, int64_t rows_here) const;
  torch::Tensor SumOverSequenceRanks(torch::Tensor counts) const;

  const ParameterStore& store_;
  const int64_t weight_;
  const int64_t layer_;
  const RouterForm form_;
  const bool forces_balance_;         // Chooses experts by row instead of by score.
  const double balance_coefficient_;  // 0: no balance loss.
  const bool balances_sequences_;     // True: per sample. False: per micro-batch.
  const double z_coefficient_;
  const CapacityLimit capacity_;
  const TensorParallel tensor_;
  const ContextParallel context_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_ROUTER_H_
