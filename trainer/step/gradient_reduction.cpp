#include "trainer/step/gradient_reduction.h"

#include <utility>

#include "trainer/step/tensor_sum.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The maximum number of groups whose gradients are being reduced while the next group is computed.
// With sharded gradients, this number limits the memory for whole gradients.
constexpr size_t kGroupsUnderWay = 2;

}  // namespace

GradientReduction::GradientReduction(ParameterStore& store, AdamW& optimizer,
                                     WeightGradients& gradients, const RankGroups& groups,
                                     int64_t shared_embedding)
    : store_(store),
      optimizer_(optimizer),
      gradients_(gradients),
      groups_(groups),
      shared_embedding_(shared_embedding),
      keeps_parts_(store.parts().zero >= 2),
      small_batch_(store, groups, shared_embedding) {}

// Waits for the operations that use this object and the optimizer. After the loss of a peer, the
// waits fail immediately.
GradientReduction::~GradientReduction() {
  for (Work& work : measuring_) {
    try {
      work.Wait();
    } catch (const std::exception&) {  // The caller has already thrown the cause.
    }
  }
}

void GradientReduction::BeginStep(int64_t passes, bool measures_small_batch) {
  passes_ = passes;
  measures_small_batch_ = measures_small_batch;
  finished_.assign(store_.groups().size(), 0);
}

Communicator& GradientReduction::ShardOf(int64_t group) const {
  return groups_.ShardOf(store_.groups()[group].kind);
}

Communicator& GradientReduction::ReplicaOf(int64_t group) const {
  return groups_.ReplicaOf(store_.groups()[group].kind);
}

// True if the group's gradients are summed over further ranks after the sum over the shard group.
bool GradientReduction::IsMeasuredAtTheEnd(int64_t group) const {
  return ReplicaOf(group).size() > 1 || group == shared_embedding_;
}

void GradientReduction::OnGroupFinished(int64_t group) {
  const bool is_first = finished_[group] == 0;
  const bool is_last = ++finished_[group] == passes_;
  if (is_first && measures_small_batch_) small_batch_.Measure(group);
  if (!is_last && !keeps_parts_) return;
  SumOverTensorRanks(store_, group, *groups_.tensor, store_.WholeGradients(group));
  under_way_.push_back({group, is_last, BeginReduction(group, is_first)});
  if (keeps_parts_) {
    store_.DropGradients(group);
    gradients_.BeginGroup(group);
  }
  if (is_last && !IsMeasuredAtTheEnd(group)) {
    measuring_.push_back(ShardOf(group).Then([this, group] { optimizer_.MeasureGroup(group); }));
  }
  while (under_way_.size() > kGroupsUnderWay) AwaitOldest();
}

std::vector<Work> GradientReduction::BeginReduction(int64_t group, bool is_first) {
  Communicator& ranks = ShardOf(group);
  std::vector<Work> works;
  const Tensor whole = store_.WholeGradients(group);
  if (store_.parts().zero == 0) {
    works.push_back(ranks.AllReduce(whole));
    return works;
  }
  const Tensor owned = store_.Gradients(group, store_.OwnedOf(group));
  if (!keeps_parts_ || is_first) {
    works.push_back(ranks.ReduceScatter(owned, whole));
    return works;
  }
  // The sum of this pass overwrites this rank's part of `whole`. It is then added to `owned`, the
  // sum of the previous passes.
  const Tensor sum = whole.chunk(ranks.size())[ranks.rank()];
  works.push_back(ranks.ReduceScatter(sum, whole));
  works.push_back(ranks.Then([owned, sum] { Tensor(owned).add_(sum); }));
  return works;
}

void GradientReduction::AwaitOldest() {
  UnderWay oldest = std::move(under_way_.front());
  under_way_.pop_front();
  for (Work& work : oldest.works) work.Wait();
  Communicator& replica = ReplicaOf(oldest.group);
  if (!oldest.is_last || replica.size() == 1) return;
  measuring_.push_back(
      replica.AllReduce(store_.Gradients(oldest.group, store_.OwnedOf(oldest.group))));
}

void GradientReduction::Finish() {
  while (!under_way_.empty()) AwaitOldest();
  for (Work& work : measuring_) work.Wait();
  measuring_.clear();
  if (shared_embedding_ >= 0) {
    groups_.tied_embedding
        ->AllReduce(store_.Gradients(shared_embedding_, store_.OwnedOf(shared_embedding_)))
        .Wait();
  }
  for (int64_t group = 0; group < static_cast<int64_t>(store_.groups().size()); ++group) {
    if (IsMeasuredAtTheEnd(group)) optimizer_.MeasureGroup(group);
  }
}

}  // namespace trainyard::trainer
