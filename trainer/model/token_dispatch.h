// Sends rows to the ranks of their experts and returns the results.
#ifndef TRAINYARD_TRAINER_MODEL_TOKEN_DISPATCH_H_
#define TRAINYARD_TRAINER_MODEL_TOKEN_DISPATCH_H_

#include <torch/types.h>

#include <memory>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/expert_choice.h"
#include "trainer/model/expert_parallel.h"
#include "trainer/ops/grouped_linear.h"
#include "trainer/ops/host_copy.h"
#include "trainer/ops/permute.h"

namespace trainyard::trainer {

// The ways of the rows of one micro-batch in one layer.
struct DispatchPlan {
  ExpertOrder order;     // Of the rows before the exchange.
  RowSegments segments;  // The rows of each of this rank's experts after Send.
  // For the exchange of rows: the number of rows sent to and received from each rank, and the order
  // by expert of the rows received.
  std::vector<int64_t> sent;
  std::vector<int64_t> received;
  ExpertOrder arrivals;
};

// Send and Return are each other's gradients, and so are SendWeights and ReturnWeights. All ranks
// that share experts must call all methods in the same order, also a rank without rows. All ranks
// have the same number of tokens.
class TokenDispatch {
 public:
  virtual ~TokenDispatch() = default;

  // Begins to copy the counts of all ranks that share experts (ExpertChoice::counts) to host
  // memory. `counts` are those of this rank's choice, [experts], on the device.
  virtual HostTensor CountsOfRanks(const torch::Tensor& counts) const = 0;

  virtual DispatchPlan Plan(const ExpertChoice& choice) const = 0;

  // Returns the rows of x, [tokens, width], that this rank's experts process, sorted by expert.
  virtual torch::Tensor Send(const torch::Tensor& x, const DispatchPlan& plan) const = 0;
  // Returns residual + the sum of each token's rows: [tokens, width]. `residual` may be undefined.
  virtual torch::Tensor Return(const torch::Tensor& rows, const DispatchPlan& plan,
                               const torch::Tensor& residual) const = 0;

  // Converts weights [tokens, topk] to the weights of the sorted rows, [rows], and back. Returns 0
  // for dropped slots.
  virtual torch::Tensor SendWeights(const torch::Tensor& weights,
                                    const DispatchPlan& plan) const = 0;
  virtual torch::Tensor ReturnWeights(const torch::Tensor& row_weights,
                                      const DispatchPlan& plan) const = 0;
};

// Returns LocalDispatch on one rank, and else the dispatch that `parallel` asks for. kAuto is the
// one that moves the fewest bytes: AllGatherDispatch if a token would be sent more often than there
// are ranks, and else AllToAllDispatch.
std::unique_ptr<TokenDispatch> MakeTokenDispatch(const ModelConfig& model,
                                                 const ExpertParallel& parallel);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_TOKEN_DISPATCH_H_
