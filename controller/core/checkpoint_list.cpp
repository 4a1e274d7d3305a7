#include "controller/core/checkpoint_list.h"

#include <algorithm>

#include "controller/core/rollbacks.h"

namespace trainyard::controller {
namespace {

constexpr int kMaxCheckpointsListed = 1000;

template <typename Goes>
void RemoveWhere(const Goes& goes, v1::Job& job) {
  auto& listed = *job.mutable_checkpoints();
  listed.erase(std::remove_if(listed.begin(), listed.end(), goes), listed.end());
}

}  // namespace

void AddCheckpoint(const v1::Checkpoint& published, v1::Job& job) {
  // A later attempt that reaches the same step again writes the same directory.
  RemoveWhere([&](const auto& old) { return old.path() == published.path(); }, job);
  v1::Checkpoint& added = *job.add_checkpoints();
  added = published;
  // Reports of an attempt that was rolled back may come late.
  added.set_rolled_back(IsRolledBack(job, published));
  // A job that never reports deletions must not grow without end; restarts need the newest ones.
  if (job.checkpoints_size() > kMaxCheckpointsListed) {
    job.mutable_checkpoints()->erase(job.checkpoints().begin());
  }
}

void RemoveCheckpoint(const v1::CheckpointDeleted& deleted, v1::Job& job) {
  RemoveWhere(
      [&](const auto& old) {
        return old.step() == deleted.step() && old.attempt() == deleted.attempt();
      },
      job);
}

void MarkDamaged(const v1::CheckpointRejected& rejected, v1::Job& job) {
  for (v1::Checkpoint& checkpoint : *job.mutable_checkpoints()) {
    // A checkpoint that the rejecting attempt has published under the same path is another one.
    const bool is_it =
        checkpoint.path() == rejected.path() && checkpoint.attempt() < rejected.attempt();
    if (is_it) checkpoint.set_damaged(true);
  }
}

}  // namespace trainyard::controller
