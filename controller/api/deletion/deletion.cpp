#include "controller/api/deletion/deletion.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/api/deletion/checkpoint_files.h"
#include "controller/api/jobs/named_job.h"
#include "controller/core/decide/deletion.h"
#include "controller/core/support/text.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// The part of a deletion that is derived from the state. A reader thread adds the rest.
struct Plan {
  Principal principal;
  v1::DeleteJobRequest request;  // Names the job by its id.
  // The job if it is archived, otherwise null.
  std::shared_ptr<const JobEntry> archived;
  v1::DeleteJobResponse response;
  CheckpointsOfDeletion checkpoints;
  std::vector<DirectoryOfJob> others;
  std::string checkpoint_root;
};

CheckpointsOfDeletion KeepAll(CheckpointsOfDeletion sorted) {
  for (std::string& path : sorted.removable) {
    v1::KeptCheckpoint& kept = sorted.kept.emplace_back();
    kept.set_path(std::move(path));
    kept.set_reason("checkpoints are kept; pass --checkpoints to remove them");
  }
  sorted.removable.clear();
  return sorted;
}

absl::StatusOr<Plan> PlanOf(const Api& api, v1::DeleteJobRequest request, const JobEntry& entry,
                            const ClusterView& view) {
  const v1::Job& job = entry.job;
  TRAINYARD_RETURN_IF_ERROR(CheckDeletable(view.state, entry));
  Plan plan;
  if (FindEntry(view.state, job.id()) == nullptr) {
    plan.archived = std::make_shared<const JobEntry>(entry);
  } else if (!api.output_complete(entry, view)) {
    return absl::FailedPreconditionError(absl::StrCat(
        JobText(job),
        " has ended, but a node is still sending the job's output; try again shortly"));
  }
  plan.request = std::move(request);
  plan.request.set_job(absl::StrCat(job.id()));
  plan.response.set_job_id(job.id());
  plan.response.set_name(job.name());
  plan.checkpoints = SortCheckpoints(view.state, entry, view.options);
  if (!plan.request.checkpoints()) plan.checkpoints = KeepAll(std::move(plan.checkpoints));
  plan.others = DirectoriesOfOthers(view.state, job.id());
  plan.checkpoint_root = view.options.checkpoint_root;
  return plan;
}

void AddData(const char* kind, int64_t bytes, v1::DeleteJobResponse& response) {
  v1::DeletedData& data = *response.add_data();
  data.set_kind(kind);
  data.set_bytes(bytes);
}

// Adds the files of the checkpoints to the plan. Call on a reader thread.
absl::Status MeasurePlan(const Api& api, Plan& plan) {
  v1::DeleteJobResponse& response = plan.response;
  const std::vector<v1::RemovableCheckpoint> removable =
      InspectCheckpoints(plan.checkpoint_root, plan.others, plan.checkpoints);
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t events, api.events.JobBytes(response.job_id()));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t metrics, api.metrics.JobBytes(response.job_id()));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t logs, api.logs.JobBytes(response.job_id()));
  AddData("events", events, response);
  AddData("metrics", metrics, response);
  AddData("logs", logs, response);
  int64_t checkpoint_bytes = 0;
  for (const v1::RemovableCheckpoint& checkpoint : removable) {
    checkpoint_bytes += checkpoint.bytes();
    response.add_checkpoints(checkpoint.path());
    *response.add_removable() = checkpoint;
  }
  AddData("checkpoints", checkpoint_bytes, response);
  response.mutable_kept()->Assign(plan.checkpoints.kept.begin(), plan.checkpoints.kept.end());
  return absl::OkStatus();
}

void Submit(const Api& api, std::shared_ptr<Plan> plan, const Reply<v1::DeleteJobResponse>& reply) {
  controller::DeleteJob deletion{.request = plan->request,
                                 .principal = plan->principal,
                                 .checkpoints = plan->checkpoints.removable,
                                 .archived = plan->archived};
  api.loop.Submit(std::move(deletion),
                  [plan, reply](const RequestOutcome& outcome, const ClusterView&) {
                    if (!outcome.ok()) return reply(outcome.status());
                    plan->response.set_deleted(true);
                    reply(std::move(plan->response));
                  });
}

}  // namespace

void handlers::DeleteJob(const Api& api, const Principal& principal, v1::DeleteJobRequest request,
                         Reply<v1::DeleteJobResponse> reply) {
  const std::string job = request.job();
  ReadJob(api, job,
          [&api, principal, request = std::move(request), reply = std::move(reply)](
              const auto& entry, const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            auto planned = PlanOf(api, request, **entry, view);
            if (!planned.ok()) return reply(planned.status());
            auto plan = std::make_shared<Plan>(*std::move(planned));
            plan->principal = principal;
            const bool queued = api.readers.TryPost([&api, plan, reply] {
              const absl::Status status = MeasurePlan(api, *plan);
              if (!status.ok()) return reply(status);
              if (!plan->request.confirmed()) return reply(std::move(plan->response));
              Submit(api, plan, reply);
            });
            if (!queued) reply(ReaderPool::Busy());
          });
}

}  // namespace trainyard::controller
