#include "controller/core/state/attempts/stream_fence.h"

#include <algorithm>

namespace trainyard::controller {

StreamFence FenceStream(const ClusterState& state, const std::string& node_id,
                        const v1::StreamId& stream) {
  const JobEntry* entry = FindEntry(state, stream.job_id());
  if (entry != nullptr) return FenceStreamOf(*entry, state, node_id, stream);
  if (IsLostToRestore(state, stream.job_id())) return StreamFence::kLostToRestore;
  return IsArchived(state, stream.job_id()) ? StreamFence::kArchived : StreamFence::kUnknownJob;
}

StreamFence FenceStreamOf(const JobEntry& entry, const ClusterState& state,
                          const std::string& node_id, const v1::StreamId& stream) {
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr || stream.attempt() < 1 || stream.attempt() > newest->number()) {
    const bool may_be_lost =
        stream.job_id() < state.restored_jobs_below && stream.attempt() < state.restored_attempt;
    return may_be_lost ? StreamFence::kAccepted : StreamFence::kForeign;
  }
  const v1::Attempt* attempt = FindAttempt(entry.job, stream.attempt());
  if (attempt == nullptr || attempt->ranks().empty()) return StreamFence::kAccepted;
  const bool is_own = 0 <= stream.rank() && stream.rank() < attempt->ranks_size() &&
                      attempt->ranks(stream.rank()).node_id() == node_id;
  return is_own ? StreamFence::kAccepted : StreamFence::kForeign;
}

void KeepOwnRanks(const ClusterState& state, const std::string& node_id,
                  v1::AttemptReport& report) {
  v1::StreamId stream;
  stream.set_job_id(report.job_id());
  stream.set_attempt(report.attempt());
  const auto is_foreign = [&](const v1::RankReport& rank) {
    stream.set_rank(rank.rank());
    const StreamFence fence = FenceStream(state, node_id, stream);
    return fence == StreamFence::kForeign || fence == StreamFence::kUnknownJob;
  };
  auto& ranks = *report.mutable_ranks();
  ranks.erase(std::remove_if(ranks.begin(), ranks.end(), is_foreign), ranks.end());
}

}  // namespace trainyard::controller
