#include "trainer/model/experts/capacity_limit.h"

#include <cstdint>

#include "trainer/ops/experts/expert_capacity.h"

namespace trainyard::trainer {

using torch::Tensor;

CapacityLimit::CapacityLimit(const ModelConfig& model, const ModelParallel& parallel)
    : model_(model), tensor_(parallel.tensor), context_(parallel.context) {}

Tensor CapacityLimit::Apply(const Tensor& experts, const Tensor& weights,
                            const MicroBatch& micro_batch) const {
  const int64_t tokens = micro_batch.length * context_.size();
  const bool by_weight = model_.moe_token_drop_policy == TokenDropPolicy::kProbs;
  const Tensor marked = DropAboveCapacity(
      WholeSamples(experts, micro_batch), by_weight ? WholeSamples(weights, micro_batch) : Tensor(),
      {.experts = model_.num_experts, .capacity = ExpertCapacity(model_, tokens)});
  return RowsHere(marked, micro_batch);
}

// Returns the rows of all ranks as [samples, tokens, topk], with the tokens in order.
Tensor CapacityLimit::WholeSamples(const Tensor& rows, const MicroBatch& micro_batch) const {
  const int64_t ranks = context_.size(), length = micro_batch.length;
  const Tensor here = tensor_.Gather(rows).view({micro_batch.batch, length, rows.size(1)});
  if (ranks == 1) return here;
  const Tensor all = torch::empty({ranks, here.size(0), length, here.size(2)}, here.options());
  context_.group().AllGather(all, here).Wait();
  Tensor samples = torch::empty({here.size(0), ranks * length, here.size(2)}, here.options());
  for (int64_t rank = 0; rank < ranks; ++rank) {
    samples.index_copy_(1, context_.PositionsOf(rank, ranks * length, here.device()), all[rank]);
  }
  return samples;
}

Tensor CapacityLimit::RowsHere(const Tensor& samples, const MicroBatch& micro_batch) const {
  const Tensor positions =
      context_.PositionsOf(context_.index(), samples.size(1), samples.device());
  const Tensor rows =
      samples.index_select(1, positions).view({micro_batch.rows(), samples.size(2)});
  const int64_t count = tensor_.RowsHere(rows.size(0));
  return tensor_.splits_rows() ? rows.narrow(0, tensor_.index() * count, count) : rows;
}

}  // namespace trainyard::trainer
