#include "trainer/model/experts/counts_of_ranks.h"

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "trainer/config/trainer_error.h"
#include "trainer/ops/host_copy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

std::vector<int64_t> ToVector(const Tensor& counts) {
  const Tensor flat = counts.contiguous();
  const int64_t* data = flat.data_ptr<int64_t>();
  return {data, data + flat.numel()};
}

// The time between two checks whether a peer is lost.
constexpr std::chrono::milliseconds kPollTime{1};

// Returns true as soon as done() is true, or false after kPollTime. Does not sleep, because the
// host could then wake late, and the device would be idle until then.
bool PollBriefly(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + kPollTime;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// True if no count is negative, and if no rank has more than `slots` rows.
bool ArePossible(const Tensor& counts, int64_t slots) {
  for (int64_t rank = 0; rank < counts.size(0); ++rank) {
    int64_t rest = slots;
    for (const int64_t count : ToVector(counts[rank])) {
      if (count < 0 || count > rest) return false;
      rest -= count;
    }
  }
  return true;
}

// If a member aborts its groups to reconnect, NCCL's kernels on other ranks may end with arbitrary
// data. Counts that are possible but wrong cause no invalid access. StepRunner then rejects the
// step.
void CheckCounts(const Tensor& counts, int64_t slots, const Communicator& ranks) {
  if (ArePossible(counts, slots)) return;
  throw TrainerError(ExitCode::kPeerLost,
                     "Lost a peer in the exchange of the experts' row counts of group " +
                         ranks.name() + ": a rank has left the gang.");
}

}  // namespace

// All ranks have the same number of slots.
void GatherCounts(const ExpertParallel& parallel, ExpertChoice& choice) {
  const Tensor counts = choice.counts.contiguous();
  const Tensor all = torch::empty({parallel.size(), counts.numel()}, counts.options());
  parallel.ranks().AllGather(all, counts).Wait();
  const HostTensor copy = BeginHostCopy(all);
  choice.counts = copy.values;
  choice.wait_for_counts = [copy, slots = choice.experts.numel(), &ranks = parallel.ranks()] {
    if (copy.is_complete) ranks.WaitUntil([&] { return PollBriefly(copy.is_complete); });
    CheckCounts(copy.values, slots, ranks);
  };
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
