#include "controller/core/apply/checkpoint_list.h"

#include <algorithm>

#include "controller/core/state/attempts/rollbacks.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace trainyard::controller {
namespace {

constexpr int kMaxCheckpointsListed = 1000;
// Deleted checkpoints are listed for display only, because their files no longer exist.
constexpr int kMaxDeletedListed = 100;

using Checkpoints = google::protobuf::RepeatedPtrField<v1::Checkpoint>;

template <typename Goes>
void RemoveWhere(const Goes& goes, Checkpoints& listed) {
  listed.erase(std::remove_if(listed.begin(), listed.end(), goes), listed.end());
}

void KeepDeleted(const v1::Checkpoint& checkpoint, v1::Job& job) {
  v1::Checkpoint& kept = *job.add_deleted_checkpoints();
  kept = checkpoint;
  kept.set_deleted(true);
  if (job.deleted_checkpoints_size() > kMaxDeletedListed) {
    job.mutable_deleted_checkpoints()->erase(job.deleted_checkpoints().begin());
  }
}

}  // namespace

void AddCheckpoint(const v1::Checkpoint& published, v1::Job& job) {
  // If a later attempt reaches the same step, it writes to the same directory.
  const auto is_same = [&](const auto& old) { return old.path() == published.path(); };
  RemoveWhere(is_same, *job.mutable_checkpoints());
  RemoveWhere(is_same, *job.mutable_deleted_checkpoints());
  v1::Checkpoint& added = *job.add_checkpoints();
  added = published;
  // Reports of a rolled-back attempt may arrive late.
  added.set_rolled_back(IsRolledBack(job, published));
  // Limits the list of a job that never reports deletions. Restarts need only the newest
  // checkpoints.
  if (job.checkpoints_size() > kMaxCheckpointsListed) {
    job.mutable_checkpoints()->erase(job.checkpoints().begin());
  }
}

void RemoveCheckpoint(const v1::CheckpointDeleted& deleted, v1::Job& job) {
  const auto is_it = [&](const auto& old) {
    return old.step() == deleted.step() && old.attempt() == deleted.attempt();
  };
  for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
    if (is_it(checkpoint)) KeepDeleted(checkpoint, job);
  }
  RemoveWhere(is_it, *job.mutable_checkpoints());
}

void MarkDamaged(const v1::CheckpointRejected& rejected, v1::Job& job) {
  for (v1::Checkpoint& checkpoint : *job.mutable_checkpoints()) {
    // If the rejecting attempt or a later one has published a checkpoint at the same path, the
    // published checkpoint is a different one and is not removed.
    const bool is_it =
        checkpoint.path() == rejected.path() && checkpoint.attempt() < rejected.attempt();
    if (is_it) checkpoint.set_damaged(true);
  }
}

}  // namespace trainyard::controller
