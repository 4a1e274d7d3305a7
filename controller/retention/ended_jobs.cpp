#include "controller/retention/ended_jobs.h"

#include <future>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/api/deletion/checkpoint_files.h"
#include "controller/core/archive.h"
#include "controller/core/decide/deletion.h"
#include "controller/core/event_log/snapshot.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kEndedJobsMax = 100;

// Runs `read` on the loop thread and waits for its result.
template <typename Result>
Result OnLoop(ClusterLoop& loop, const std::function<Result(const ClusterView&)>& read) {
  std::promise<Result> done;
  loop.Read([&](const ClusterView& view) { done.set_value(read(view)); });
  return done.get_future().get();
}

}  // namespace

absl::StatusOr<std::vector<EndedJob>> LoopEndedJobs::Among(const std::vector<int64_t>& ids) {
  // Read the state before the archive, so that no job is missed: jobs move only from the state to
  // the archive.
  std::vector<int64_t> others;
  auto ended = OnLoop<std::vector<EndedJob>>(loop_, [&](const ClusterView& view) {
    std::vector<EndedJob> found;
    for (const int64_t id : ids) {
      const JobEntry* entry = FindEntry(view.state, id);
      if (entry == nullptr) {
        others.push_back(id);
      } else if (HasEnded(entry->job.state()) && output_complete_(*entry, view)) {
        found.push_back({id, entry->job.ended_time_ms()});
      }
    }
    return found;
  });
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<ArchivedEnd> archived, archive_.EndsOf(others));
  for (const ArchivedEnd& end : archived) ended.push_back({end.job_id, end.ended_ms});
  return ended;
}

absl::StatusOr<std::vector<EndedJob>> LoopEndedJobs::EndedBy(Timestamp ended_ms) {
  std::vector<EndedJob> ended;
  TRAINYARD_ASSIGN_OR_RETURN(const auto archived, archive_.EndedBy(ended_ms, kEndedJobsMax));
  for (const ArchivedEnd& end : archived) ended.push_back({end.job_id, end.ended_ms});
  if (ended.size() == kEndedJobsMax) return ended;
  return OnLoop<std::vector<EndedJob>>(loop_, [&](const ClusterView& view) {
    for (const auto& [end_ms, id] : view.state.ended_jobs) {
      if (end_ms > ended_ms || ended.size() == kEndedJobsMax) break;
      const JobEntry& entry = view.state.jobs.at(id);
      if (!output_complete_(entry, view) || !CheckDeletable(view.state, entry).ok()) continue;
      ended.push_back({id, end_ms});
    }
    return std::move(ended);
  });
}

absl::StatusOr<std::shared_ptr<const JobEntry>> LoopEndedJobs::ReadArchived(int64_t job_id) {
  const bool in_state = OnLoop<bool>(
      loop_, [&](const ClusterView& view) { return FindEntry(view.state, job_id) != nullptr; });
  if (in_state) return nullptr;
  TRAINYARD_ASSIGN_OR_RETURN(std::optional<v1::ArchivedJob> found, archive_.Find(job_id));
  if (!found.has_value()) return nullptr;
  return std::make_shared<const JobEntry>(FromArchived(*std::move(found)));
}

std::vector<DirectoryOfJob> LoopEndedJobs::DirectoriesOfOthers(int64_t job_id) {
  return OnLoop<std::vector<DirectoryOfJob>>(loop_, [&](const ClusterView& view) {
    return controller::DirectoriesOfOthers(view.state, job_id);
  });
}

absl::Status LoopEndedJobs::Delete(int64_t job_id, bool checkpoints) {
  DeleteJob deletion{.request = {}, .principal = ControllerPrincipal(), .checkpoints = {}};
  deletion.request.set_job(absl::StrCat(job_id));
  TRAINYARD_ASSIGN_OR_RETURN(deletion.archived, ReadArchived(job_id));
  if (checkpoints) {
    std::string root;
    std::vector<DirectoryOfJob> others;
    auto sorted = OnLoop<CheckpointsOfDeletion>(loop_, [&](const ClusterView& view) {
      root = view.options.checkpoint_root;
      others = controller::DirectoriesOfOthers(view.state, job_id);
      const JobEntry* entry =
          deletion.archived != nullptr ? deletion.archived.get() : FindEntry(view.state, job_id);
      return entry == nullptr ? CheckpointsOfDeletion()
                              : SortCheckpoints(view.state, *entry, view.options);
    });
    InspectCheckpoints(root, others, sorted);
    for (const v1::KeptCheckpoint& kept : sorted.kept) {
      spdlog::warn("retention: job {}: {} was not removed: {}", job_id, kept.path(), kept.reason());
    }
    deletion.checkpoints = std::move(sorted.removable);
  }
  std::promise<absl::Status> done;
  loop_.Submit(std::move(deletion), [&done](const RequestOutcome& outcome, const ClusterView&) {
    done.set_value(outcome.status());
  });
  return done.get_future().get();
}

}  // namespace trainyard::controller
