#include "controller/api/jobs/job_handlers.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/api/job_files/code_handlers.h"
#include "controller/api/job_files/sent_job_file.h"
#include "controller/api/jobs/archived_dependencies.h"
#include "controller/api/jobs/job_view.h"
#include "controller/api/jobs/named_job.h"
#include "controller/api/jobs/pending_estimate.h"
#include "controller/api/jobs/rank_view.h"
#include "controller/api/jobs/stored_progress.h"
#include "controller/core/decide/notes.h"
#include "controller/core/decide/references.h"
#include "controller/core/event_log/event_job.h"
#include "controller/core/explain/preview.h"
#include "controller/core/ledger/cost.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/ledger/token_progress.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/state/attempts/gang_request.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/rules/resume_check.h"

namespace trainyard::controller {
namespace {

// The maximum total size of spec and origins. The spec also has a limit of its own
// (core/requests/submission.h).
constexpr std::size_t kMaxSubmitBytes = 4 << 20;
constexpr int kEventsOfJob = 50;
// A job's events are read in pages of kHistoryPage events. Reading stops when kAlertsOfJob alerts
// are found or kHistoryPages pages have been read.
constexpr int kHistoryPage = 1000;
constexpr int kHistoryPages = 50;
constexpr int kAlertsOfJob = 500;

absl::Status CheckRequestSize(const google::protobuf::Message& request) {
  const std::size_t bytes = request.ByteSizeLong();
  if (bytes <= kMaxSubmitBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the request has ", bytes, " bytes; at most ", kMaxSubmitBytes, " are allowed"));
}

// Returns the job that a submit request created. If the request repeats an earlier request, returns
// the job that the earlier request created. Returns null if that job is archived.
const JobEntry* SubmittedJob(const std::string& request_id, std::span<const v1::Event> events,
                             const ClusterView& view) {
  for (const v1::Event& event : events) {
    if (event.has_job_submitted()) return FindEntry(view.state, event.job_submitted().job_id());
  }
  return FindEntry(view.state, FindJobByRequestId(view.state, request_id).value_or(0));
}

// Returns the job that a request changed. The id is taken from the events, because the name in the
// request may refer to another job by now.
absl::StatusOr<const JobEntry*> ChangedJob(const std::string& reference,
                                           std::span<const v1::Event> events,
                                           const ClusterView& view) {
  if (!events.empty()) return &view.state.jobs.at(JobIdOf(events.front()));
  return FindNamedJob(view, reference);
}

// Adds the newest `kEventsOfJob` events and the newest `kAlertsOfJob` alerts, both oldest first.
// Reads several pages, because a long job has more checkpoint events than fit into one page. Call
// on a reader thread.
absl::Status AddHistory(EventLog& log, v1::GetJobResponse& response) {
  uint64_t before = 0;
  for (int page = 0; page < kHistoryPages && response.alerts_size() < kAlertsOfJob; ++page) {
    auto entries = log.ReadEventsBefore(response.job().id(), before, kHistoryPage);
    if (!entries.ok()) return entries.status();
    for (v1::EventEntry& entry : *entries) {
      if (entry.event().has_alert_raised() && response.alerts_size() < kAlertsOfJob) {
        *response.add_alerts() = AlertOf(entry);
      }
      before = entry.sequence();
      if (response.events_size() < kEventsOfJob) {
        *response.add_events() = std::move(*entry.mutable_event());
      }
    }
    if (entries->size() < static_cast<std::size_t>(kHistoryPage)) break;
  }
  std::reverse(response.mutable_alerts()->begin(), response.mutable_alerts()->end());
  std::reverse(response.mutable_events()->begin(), response.mutable_events()->end());
  return absl::OkStatus();
}

// Fills in progress from stored metrics if no progress has been observed. At its start, the
// controller recovers progress for recent jobs only. Call on a reader thread.
void AddStoredProgress(const Api& api, v1::Job& job) {
  if (job.has_progress() || job.attempts().empty()) return;
  const auto progress = StoredProgress(job, api.metrics);
  // If the progress cannot be read, it is omitted, because the rest of the answer is still valid.
  if (!progress.ok() || !progress->has_value()) return;
  *job.mutable_progress() = **progress;
  AddTokens(job.spec(), *job.mutable_progress());
}

using SubmitReply = Reply<v1::SubmitJobResponse>;

// Answers a repeated submit request whose job is archived. If the job is not in the archive,
// returns false without an answer. Call on a reader thread.
bool AnswerFromArchive(const Api& api, const v1::JobSubmitted& submitted,
                       const SubmitReply& reply) {
  auto found = api.events.archive().FindByRequestId(submitted.request_id());
  if (found.ok() && !found->has_value()) return false;
  if (!found.ok()) {
    reply(found.status());
    return true;
  }
  if (!AsksForSameJob((*found)->job().spec(), submitted.spec())) {
    reply(OtherSpecOfRequest(submitted.request_id(), (*found)->job()));
    return true;
  }
  v1::SubmitJobResponse response;
  *response.mutable_job() = std::move(*(*found)->mutable_job());
  reply(std::move(response));
  return true;
}

void AnswerSubmit(const Api& api, const JobSubmission& submit, const RequestOutcome& outcome,
                  const ClusterView& view, const SubmitReply& reply) {
  if (!outcome.ok()) return reply(outcome.status());
  const std::string& request_id = submit.submitted().request_id();
  if (const JobEntry* entry = SubmittedJob(request_id, *outcome, view)) {
    v1::SubmitJobResponse response;
    *response.mutable_job() = FullJob(*entry, view);
    return reply(std::move(response));
  }
  const bool queued = api.readers.TryPost([&api, submit, reply] {
    if (AnswerFromArchive(api, submit.submitted(), reply)) return;
    reply(absl::InternalError(
        "the submitted job is neither in the controller's state nor in its archive"));
  });
  if (!queued) reply(ReaderPool::Busy());
}

void SubmitNew(const Api& api, JobSubmission submit, const SubmitReply& reply) {
  auto shared = std::make_shared<const JobSubmission>(std::move(submit));
  api.loop.Submit(*shared,
                  [&api, shared, reply](const RequestOutcome& outcome, const ClusterView& view) {
                    AnswerSubmit(api, *shared, outcome, view, reply);
                  });
}

// Looks up what Decide cannot read: archived jobs named in `after`, the checkpoint to resume from,
// and the code. Then submits. Call on a reader thread.
void SubmitChecked(const Api& api, JobSubmission submit, const SubmitReply& reply) {
  const v1::JobSpec& spec = submit.submitted().spec();
  if (MayNameArchived(api.events.archive(), spec)) {
    auto archived = FindArchivedDependencies(api.events.archive(), spec);
    if (!archived.ok()) return reply(archived.status());
    submit.set_archived(*std::move(archived));
  }
  const CheckpointFit start = CheckResumeFrom(spec);
  if (!start.problem.empty()) return reply(absl::InvalidArgumentError(start.problem));
  if (const absl::Status code = CheckCodeStored(api, spec); !code.ok()) return reply(code);
  SubmitNew(api, std::move(submit), reply);
}

// Submits a request whose spec is resolved. A repeated request is recognized by its request id.
// Request ids of archived jobs are searched in the archive. The state has the request ids of other
// jobs, and of jobs archived in the last few minutes. If this machine can read the checkpoint to
// resume from, the checkpoint is compared with the model.
void SubmitSpec(const Api& api, const Principal& principal, v1::SubmitJobRequest request,
                const SubmitReply& reply) {
  if (const absl::Status status = CheckRequestSize(request); !status.ok()) return reply(status);
  auto submit = controller::JobSubmission::Check(std::move(request), principal);
  if (!submit.ok()) return reply(submit.status());
  const bool may_be_archived =
      !submit->submitted().request_id().empty() && api.events.archive().HasJobs();
  const v1::JobSpec& spec = submit->submitted().spec();
  const bool needs_lookup = may_be_archived || MayNameArchived(api.events.archive(), spec) ||
                            spec.has_code() || !spec.checkpoint().resume_from().empty();
  if (!needs_lookup) return SubmitNew(api, *std::move(submit), reply);
  auto shared = std::make_shared<JobSubmission>(*std::move(submit));
  const bool queued = api.readers.TryPost([&api, shared, may_be_archived, reply] {
    if (may_be_archived && AnswerFromArchive(api, shared->submitted(), reply)) return;
    SubmitChecked(api, std::move(*shared), reply);
  });
  if (!queued) reply(ReaderPool::Busy());
}

// A request to plan a job whose spec is resolved. `origins` is set for a job file sent as text; the
// answer then includes the resolved spec and its origins.
struct PlanRequest {
  v1::PlanJobRequest request;
  std::vector<v1::Origin> origins;
  std::optional<v1::GrantedLayout> layout;  // Set for a job with auto_layout.
  ArchivedPrerequisites archived;           // Archived jobs that the spec names in `after`.
};

void AnswerPlan(const Api& api, const PlanRequest& plan, const Reply<v1::PlanJobResponse>& reply) {
  api.loop.Read([plan, reply](const ClusterView& view) {
    const auto& [request, origins, layout, archived] = plan;
    auto response = controller::PreviewJob(view, request.spec(),
                                           layout.has_value() ? &*layout : nullptr, archived);
    if (response.ok() && !origins.empty()) {
      *response->mutable_spec() = request.spec();
      response->mutable_origins()->Assign(origins.begin(), origins.end());
    }
    reply(std::move(response));
  });
}

// A layout question and the nodes that the job would get.
using QuestionOnNodes = std::pair<controller::LayoutQuestion, controller::LayoutNodes>;

// Returns the layout for the first kind of device that has one. If none has, returns the reason for
// the first kind.
v1::GrantedLayout ChooseLayoutOnAny(const v1::JobSpec& spec,
                                    const std::vector<QuestionOnNodes>& questions) {
  v1::GrantedLayout chosen;
  for (std::size_t i = 0; i < questions.size() && chosen.nodes() == 0; ++i) {
    const auto& [question, nodes] = questions[i];
    v1::GrantedLayout next = ChooseLayoutFor(spec, question, nodes);
    if (i == 0 || next.nodes() > 0) chosen = std::move(next);
  }
  return chosen;
}

// Searches for a layout on a reader thread, for the kinds of device that the cluster has. An
// invalid spec is refused before the search.
void PlanWithLayout(const Api& api, const PlanRequest& plan,
                    const Reply<v1::PlanJobResponse>& reply) {
  api.loop.Read([&api, plan, reply](const ClusterView& view) {
    const v1::JobSpec& spec = plan.request.spec();
    const auto refused = controller::PreviewJob(view, spec, nullptr, plan.archived);
    if (!refused.ok()) return reply(refused.status());
    const GangShape shape = GangRequestOf(spec).Full();
    // The preview has accepted the spec, so at least one kind has enough slots.
    std::vector<QuestionOnNodes> questions;
    for (const std::string& device : DevicesForLayouts(view.state, spec, shape)) {
      const controller::LayoutQuestion question{0, shape, device};
      questions.emplace_back(question, NodesFor(view.state, spec, question));
    }
    const bool queued = api.readers.TryPost([&api, plan = plan, questions, reply]() mutable {
      plan.layout = ChooseLayoutOnAny(plan.request.spec(), questions);
      AnswerPlan(api, plan, reply);
    });
    if (!queued) reply(ReaderPool::Busy());
  });
}

void PlanWithDependencies(const Api& api, PlanRequest plan,
                          const Reply<v1::PlanJobResponse>& reply) {
  if (!plan.request.spec().auto_layout()) return AnswerPlan(api, plan, reply);
  Origins origins;
  FillDefaults(*plan.request.mutable_spec(), origins);
  PlanWithLayout(api, plan, reply);
}

void PlanSpec(const Api& api, PlanRequest plan, const Reply<v1::PlanJobResponse>& reply) {
  if (const absl::Status status = CheckRequestSize(plan.request); !status.ok()) {
    return reply(status);
  }
  if (!MayNameArchived(api.events.archive(), plan.request.spec())) {
    return PlanWithDependencies(api, std::move(plan), reply);
  }
  const bool queued = api.readers.TryPost([&api, plan = std::move(plan), reply]() mutable {
    auto archived = FindArchivedDependencies(api.events.archive(), plan.request.spec());
    if (!archived.ok()) return reply(archived.status());
    plan.archived = *std::move(archived);
    PlanWithDependencies(api, std::move(plan), reply);
  });
  if (!queued) reply(ReaderPool::Busy());
}

// The error for a request to change an archived job.
using Refusal = absl::Status (*)(const v1::Job& archived);

// Answers a request to change a job that is not in the state. Such a job cannot be changed, because
// it is archived or does not exist.
template <typename Response>
void RefuseChange(const Api& api, const std::string& reference, Refusal refusal,
                  const Reply<Response>& reply) {
  ReadJob(api, reference, [refusal, reply](const auto& entry, const ClusterView&) {
    if (!entry.ok()) return reply(entry.status());
    reply(refusal((*entry)->job));
  });
}

// Submits a request about one job. The answer contains the job's state after the request was
// applied.
template <typename Response>
void ChangeJob(const Api& api, controller::Request request, const std::string& reference,
               Reply<Response> reply, Refusal refusal = EndedAlready) {
  api.loop.Submit(std::move(request), [&api, reference, refusal, reply = std::move(reply)](
                                          const RequestOutcome& outcome, const ClusterView& view) {
    if (absl::IsNotFound(outcome.status()) && !FindNamedJob(view, reference).ok()) {
      return RefuseChange(api, reference, refusal, reply);
    }
    if (!outcome.ok()) return reply(outcome.status());
    const auto entry = ChangedJob(reference, *outcome, view);
    if (!entry.ok()) return reply(entry.status());
    Response response;
    *response.mutable_job() = FullJob(**entry, view);
    reply(std::move(response));
  });
}

// Returns the newest step that the job has reported; 0 if the job has reported no step.
int64_t NewestStep(const JobEntry& entry, const ClusterView& view) {
  const v1::Job job = FullJob(entry, view);
  const int64_t last = job.attempts().empty() ? 0 : job.attempts().rbegin()->last_step();
  return std::max(job.progress().step(), last);
}

// Adds the job's history and progress from the stores on a reader thread, and replies.
void ReplyWithHistory(const Api& api, const std::shared_ptr<v1::GetJobResponse>& response,
                      const Reply<v1::GetJobResponse>& reply) {
  const auto work = [&api, response, reply] {
    const absl::Status status = AddHistory(api.events, *response);
    if (!status.ok()) return reply(status);
    AddStoredProgress(api, *response->mutable_job());
    reply(std::move(*response));
  };
  if (!api.readers.TryPost(work)) reply(ReaderPool::Busy());
}

}  // namespace

v1::GetJobResponse JobNow(const JobEntry& entry, const ClusterView& view) {
  v1::GetJobResponse response;
  *response.mutable_job() = FullJob(entry, view);
  for (const v1::Attempt& attempt : response.job().attempts()) {
    for (const v1::RankPlacement& rank : attempt.ranks()) {
      const auto node = view.state.nodes.find(rank.node_id());
      if (node == view.state.nodes.end()) continue;
      (*response.mutable_node_names())[rank.node_id()] = node->second.node.name();
    }
  }
  if (auto reason = WaitingReason(entry, view)) *response.mutable_pending() = *std::move(reason);
  v1::Ledger& ledger = *response.mutable_ledger();
  ledger = LedgerOf(response.job(), view.now);
  if (auto cost = CostOf(ledger.gpu_seconds(), view.options.gpu_price)) {
    *ledger.mutable_cost() = *std::move(cost);
  }
  response.set_revision(view.revision);
  response.set_as_of_ms(view.now);
  return response;
}

void handlers::SubmitJob(const Api& api, const Principal& principal, v1::SubmitJobRequest request,
                         Reply<v1::SubmitJobResponse> reply) {
  ResolveSubmit(
      api, std::move(request),
      [&api, principal, reply](v1::SubmitJobRequest resolved) {
        SubmitSpec(api, principal, std::move(resolved), reply);
      },
      reply);
}

void handlers::PlanJob(const Api& api, const Principal& /*principal*/, v1::PlanJobRequest request,
                       Reply<v1::PlanJobResponse> reply) {
  ResolvePlan(
      api, std::move(request),
      [&api, reply](const v1::PlanJobRequest& resolved, const std::vector<v1::Origin>& origins) {
        PlanSpec(api, {resolved, origins, std::nullopt}, reply);
      },
      reply);
}

void handlers::GetJob(const Api& api, const Principal& /*principal*/, v1::GetJobRequest request,
                      Reply<v1::GetJobResponse> reply) {
  ReadJob(api, request.job(),
          [&api, reply = std::move(reply)](const auto& entry, const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            auto response = std::make_shared<v1::GetJobResponse>(JobNow(**entry, view));
            AddEstimate(api, view, **entry, response->pending(),
                        [&api, response, reply](const v1::PendingReason& pending) {
                          if (response->has_pending()) *response->mutable_pending() = pending;
                          ReplyWithHistory(api, response, reply);
                        });
          });
}

void handlers::StopJob(const Api& api, const Principal& principal, v1::StopJobRequest request,
                       Reply<v1::StopJobResponse> reply) {
  ChangeJob(api, controller::StopJob{request, principal}, request.job(), std::move(reply));
}

void handlers::PauseJob(const Api& api, const Principal& principal, v1::PauseJobRequest request,
                        Reply<v1::PauseJobResponse> reply) {
  ChangeJob(api, controller::PauseJob{request, principal}, request.job(), std::move(reply));
}

void handlers::ResumeJob(const Api& api, const Principal& principal, v1::ResumeJobRequest request,
                         Reply<v1::ResumeJobResponse> reply) {
  ChangeJob(api, controller::ResumeJob{request, principal}, request.job(), std::move(reply));
}

void handlers::MoveJob(const Api& api, const Principal& principal, v1::MoveJobRequest request,
                       Reply<v1::MoveJobResponse> reply) {
  ChangeJob(api, controller::MoveInQueue{request, principal}, request.job(), std::move(reply));
}

void handlers::ExtendJob(const Api& api, const Principal& principal, v1::ExtendJobRequest request,
                         Reply<v1::ExtendJobResponse> reply) {
  ChangeJob(api, controller::ExtendJob{request, principal}, request.job(), std::move(reply));
}

void handlers::WriteNote(const Api& api, const Principal& principal, v1::WriteNoteRequest request,
                         Reply<v1::WriteNoteResponse> reply) {
  const std::string job = request.job();
  if (request.has_step()) {
    return ChangeJob(api, controller::WriteNote{request, principal}, job, std::move(reply),
                     NotesAreFinal);
  }
  ReadJob(api, job,
          [&api, principal, request = std::move(request), reply = std::move(reply)](
              const auto& entry, const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            v1::WriteNoteRequest with_step = request;
            with_step.set_job(absl::StrCat((*entry)->job.id()));
            with_step.set_step(NewestStep(**entry, view));
            ChangeJob(api, controller::WriteNote{with_step, principal}, with_step.job(), reply,
                      NotesAreFinal);
          });
}

void handlers::DeleteNote(const Api& api, const Principal& principal, v1::DeleteNoteRequest request,
                          Reply<v1::DeleteNoteResponse> reply) {
  ChangeJob(api, controller::DeleteNote{request, principal}, request.job(), std::move(reply),
            NotesAreFinal);
}

void handlers::ListRanks(const Api& api, const Principal& /*principal*/,
                         v1::ListRanksRequest request, Reply<v1::ListRanksResponse> reply) {
  ReadJob(api, request.job(),
          [attempt = request.attempt(), reply = std::move(reply)](const auto& entry,
                                                                  const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            reply(RanksNow(**entry, attempt, view));
          });
}

}  // namespace trainyard::controller
