// Sends rows to the ranks of their experts and returns the results.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_TOKEN_DISPATCH_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_TOKEN_DISPATCH_H_

#include <torch/types.h>

#include <vector>

#include "trainer/model/parallel/tensor_parallel.h"
#include "trainer/model/pass/expert_choice.h"
#include "trainer/ops/experts/grouped_linear.h"
#include "trainer/ops/experts/permute.h"

namespace trainyard::trainer {

// The routes of the rows of one micro-batch in one layer.
struct DispatchPlan {
  ExpertOrder order;     // The order of the rows before the exchange.
  RowSegments segments;  // The rows of each of this rank's experts after Send.
  // For the exchange of rows: the number of rows sent to and received from each rank, and the order
  // by expert of the rows received.
  std::vector<int64_t> sent;
  std::vector<int64_t> received;
  ExpertOrder arrivals;
};

// Values of rows, and the weights of the rows. `weights` may be undefined.
struct WeightedRows {
  torch::Tensor values;   // [tokens, width], or [rows, width].
  torch::Tensor weights;  // [tokens, topk], or [rows].
};

// Rows in transit.
struct PendingRows {
  PendingTensor values;
  PendingTensor weights;
};

// Send converts tokens to the rows of this rank's experts, sorted by expert: [tokens, width] to
// [rows, width], and weights [tokens, topk] to [rows]. Return is the opposite. For values, it
// returns residual + the sum of each token's rows. `residual` may be undefined. Send and Return are
// each other's gradients. Work that is queued between Begin and Finish runs during the exchange.
//
// All ranks that share experts, even those without rows, must call all methods in the same order.
// All ranks have the same number of tokens.
class TokenDispatch {
 public:
  virtual ~TokenDispatch() = default;

  // Begins to replace the counts of this rank in `choice` with the counts of all ranks that share
  // experts (ExpertChoice::counts).
  virtual void ShareCounts(ExpertChoice& choice) const = 0;

  virtual DispatchPlan Plan(const ExpertChoice& choice) const = 0;

  virtual PendingRows BeginSend(const WeightedRows& tokens, const DispatchPlan& plan) const = 0;
  virtual WeightedRows FinishSend(PendingRows sent, const DispatchPlan& plan) const = 0;

  virtual PendingRows BeginReturn(const WeightedRows& rows, const DispatchPlan& plan) const = 0;
  virtual WeightedRows FinishReturn(PendingRows returned, const DispatchPlan& plan,
                                    const torch::Tensor& residual) const = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_TOKEN_DISPATCH_H_
