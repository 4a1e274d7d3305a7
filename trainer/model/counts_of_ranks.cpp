#include "trainer/model/counts_of_ranks.h"

#include <utility>

#include "trainer/ops/host_copy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

std::vector<int64_t> ToVector(const Tensor& counts) {
  const Tensor flat = counts.contiguous();
  const int64_t* data = flat.data_ptr<int64_t>();
  return {data, data + flat.numel()};
}

}  // namespace

HostTensor GatherCounts(const Tensor& counts, const ExpertParallel& parallel) {
  const Tensor all = torch::empty({parallel.size(), counts.numel()}, counts.options());
  parallel.ranks().AllGather(all, counts.contiguous()).Wait();
  return BeginHostCopy(all);
}

RowCounts::RowCounts(Tensor counts, const ExpertParallel& parallel)
    : counts_(std::move(counts)),
      parallel_(parallel),
      experts_(parallel.ExpertsHere(counts_.size(1))) {}

// All ranks of a group get the rows of the group's experts.
std::vector<int64_t> RowCounts::Sent() const {
  const Tensor of_groups = counts_[parallel_.index()].view({parallel_.groups(), -1}).sum(1);
  return ToVector(at::repeat_interleave(of_groups, parallel_.parts()));
}

std::vector<int64_t> RowCounts::Received() const { return ToVector(here().sum(1)); }

std::vector<int64_t> RowCounts::OfExpertsHere() const { return ToVector(here().sum(0)); }

}  // namespace trainyard::trainer
