#include "controller/core/decide/deletion.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/core/decide/references.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "proto/files/normal_path.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

bool LiesIn(const std::string& path, const std::string& directory) {
  return absl::StartsWith(path, absl::StrCat(directory, "/")) && path.size() > directory.size() + 1;
}

// Returns the id of another job that uses the directory or a path below it. Returns 0 if there is
// none.
int64_t OtherUser(const ClusterState& state, const JobEntry& entry, const std::string& directory) {
  for (const DirectoryOfJob& other : DirectoriesOfOthers(state, entry.job.id())) {
    if (other.path == directory || LiesIn(other.path, directory)) return other.job_id;
  }
  return 0;
}

// Returns the reason why none of the job's checkpoints may be removed. Empty if they may be
// removed.
std::string ReasonToKeepAll(const ClusterState& state, const JobEntry& entry,
                            const CoreOptions& options) {
  const std::string own = NormalPath(
      absl::StrCat(options.checkpoint_root, "/", entry.job.id(), "-", entry.job.spec().name()));
  if (CheckpointDirectory(entry.job.spec()) != own) {
    return "the controller does not remove a directory that the job file sets; remove that "
           "directory by hand";
  }
  const int64_t other = OtherUser(state, entry, own);
  return other == 0 ? "" : absl::StrCat("job ", other, " uses the same directory");
}

void Keep(const std::string& path, const std::string& reason, CheckpointsOfDeletion& sorted) {
  v1::KeptCheckpoint& kept = sorted.kept.emplace_back();
  kept.set_path(path);
  kept.set_reason(reason);
}

// Returns the job from the state, or else the archived job that the request carries.
absl::StatusOr<const JobEntry*> FindEnded(const ClusterState& state, const DeleteJob& deletion) {
  const JobEntry* archived = deletion.archived.get();
  if (archived != nullptr && IsArchived(state, archived->job.id())) return archived;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, deletion.request.job()));
  return &state.jobs.at(job_id);
}

v1::Event DeletionEvent(const DeleteJob& deletion, const JobEntry& entry, Timestamp now) {
  v1::Event event = EventBy(deletion.principal, now);
  v1::JobDeleted& deleted = *event.mutable_job_deleted();
  deleted.set_job_id(entry.job.id());
  deleted.set_name(entry.job.name());
  for (const std::string& path : deletion.checkpoints) deleted.add_checkpoints(path);
  return event;
}

}  // namespace

absl::Status CheckDeletable(const ClusterState& state, const JobEntry& entry) {
  if (!HasEnded(entry.job.state())) {
    return absl::FailedPreconditionError(
        absl::StrCat(JobText(entry.job), " is ", EnumText(entry.job.state()),
                     "; only ended jobs can be deleted. To stop the job, run `trainyard stop ",
                     entry.job.id(), "`"));
  }
  for (const auto& [id, node] : state.nodes) {
    for (const AttemptKey& key : node.uncleared) {
      if (key.job_id != entry.job.id()) continue;
      return absl::FailedPreconditionError(
          absl::StrCat(JobText(entry.job), " has ended, but node ", node.node.name(),
                       " has not confirmed that the job's processes are gone; delete the job once "
                       "the node is connected again"));
    }
  }
  return absl::OkStatus();
}

std::vector<DirectoryOfJob> DirectoriesOfOthers(const ClusterState& state, int64_t job_id) {
  std::vector<DirectoryOfJob> directories;
  const auto add = [&](int64_t id, const std::string& path) {
    if (!path.empty()) directories.push_back({id, NormalPath(path)});
  };
  for (const auto& [id, other] : state.jobs) {
    if (id == job_id) continue;
    add(id, other.job.spec().checkpoint().dir());
    if (!HasEnded(other.job.state())) add(id, other.job.spec().checkpoint().resume_from());
  }
  return directories;
}

CheckpointsOfDeletion SortCheckpoints(const ClusterState& state, const JobEntry& entry,
                                      const CoreOptions& options) {
  CheckpointsOfDeletion sorted;
  if (entry.job.checkpoints().empty()) return sorted;
  const std::string keep_all = ReasonToKeepAll(state, entry, options);
  const std::string own = CheckpointDirectory(entry.job.spec());
  std::set<std::string> seen;
  for (const v1::Checkpoint& checkpoint : entry.job.checkpoints()) {
    const std::string path = NormalPath(checkpoint.path());
    if (checkpoint.deleted() || !seen.insert(path).second) continue;
    if (!keep_all.empty()) {
      Keep(path, keep_all, sorted);
    } else if (!LiesIn(path, own)) {
      Keep(path, "this checkpoint is outside the job's directory; remove the checkpoint by hand",
           sorted);
    } else {
      sorted.removable.push_back(path);
    }
  }
  return sorted;
}

absl::StatusOr<std::vector<v1::Event>> DecideDeletion(const ClusterState& state,
                                                      const DeleteJob& deletion,
                                                      const CoreOptions& options, Timestamp now) {
  TRAINYARD_ASSIGN_OR_RETURN(const JobEntry* found, FindEnded(state, deletion));
  const JobEntry& entry = *found;
  TRAINYARD_RETURN_IF_ERROR(CheckDeletable(state, entry));
  const std::vector<std::string> removable = deletion.checkpoints.empty()
                                                 ? std::vector<std::string>()
                                                 : SortCheckpoints(state, entry, options).removable;
  for (const std::string& path : deletion.checkpoints) {
    if (std::ranges::find(removable, path) != removable.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not a checkpoint of ", JobText(entry.job), " that can be removed"));
  }
  return std::vector<v1::Event>{DeletionEvent(deletion, entry, now)};
}

}  // namespace trainyard::controller
