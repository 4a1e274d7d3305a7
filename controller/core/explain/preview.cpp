#include "controller/core/explain/preview.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "controller/core/decide/dependencies.h"
#include "controller/core/explain/dependency_reason.h"
#include "controller/core/explain/gang_distances.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/health/node_health.h"
#include "controller/core/observations/root_sightings.h"
#include "controller/core/requests/submission.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/schedule/elastic_gang.h"
#include "controller/core/schedule/expected_ends.h"
#include "controller/core/schedule/host_releases.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/schedule/promised_heads.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/rules.h"
#include "proto/jobspec/rules/elastic_size.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// Returns the job as it would be if it were submitted now.
JobEntry EntryIfSubmitted(const ClusterView& view, v1::JobSpec spec,
                          const v1::GrantedLayout* layout) {
  JobEntry entry;
  entry.job.set_id(view.state.next_job_id);
  entry.job.set_name(spec.name());
  entry.job.set_queue(spec.queue());
  entry.job.set_priority(spec.priority());
  *entry.job.mutable_spec() = std::move(spec);
  if (layout != nullptr) entry.layouts.push_back(*layout);
  return entry;
}

void AddRanks(const ClusterView& view, const GangRequest& request, const Gang& gang,
              v1::PlanJobResponse& response) {
  for (const v1::RankPlacement& rank : RanksOf(gang, request.nodes)) {
    *response.add_ranks() = rank;
    (*response.mutable_node_names())[rank.node_id()] = NodeName(view.state, rank.node_id());
  }
}

// Returns the job's request, for the kind of device for which its layout was chosen.
GangRequest RequestOf(const JobEntry& entry) {
  GangRequest request = GangRequestOf(entry.job.spec());
  if (!entry.layouts.empty()) request.device = entry.layouts.back().device();
  return request;
}

v1::PendingReason StartsAtOnce(const ClusterView& view, const JobEntry& entry) {
  v1::PendingReason reason;
  reason.set_code(v1::PENDING_CODE_NOT_PENDING);
  reason.set_message("would start at once");
  reason.set_advice(RootWarning(view.state, entry.job.spec(), view.observations.roots));
  return reason;
}

// Lets the pass place the job only if that delays no promised head that precedes it in its queue.
void AcceptBehindHeads(const ClusterView& view, const JobEntry& entry, PlacementPass& pass) {
  const JobClass job_class = ClassOf(entry.job);
  const ExpectedEnds expected_ends = ExpectedEndsOf(view.state, view.observations, view.now);
  const int64_t before = CountBefore(view.state, entry.job, view.now);
  auto heads = std::make_shared<PromisedHeads>(view.state, view.options.promised_heads, view.now);
  for (const QueueHead& head : view.schedule.PromisedHeadsOf(view.state, job_class.kind)) {
    const JobEntry* blocker = FindEntry(view.state, head.job_id);
    if (blocker == nullptr || CountBefore(view.state, blocker->job, view.now) >= before) continue;
    heads->Add(*blocker, ReleasesForHead(view.state, pass, *blocker, expected_ends, view.now),
               pass.GroupsFor(*blocker, LeastShape(*blocker)));
  }
  pass.AcceptOnly([heads, &entry, end = LatestEnd(job_class, view.now)](const Gang& gang) {
    return !heads->classes().empty() && heads->Allows(gang, entry, end);
  });
}

// Returns the layout of an elastic job on at most `most` nodes. With `layout: auto`, only the
// choice that was made for this plan is known.
std::optional<v1::GrantedLayout> ElasticLayout(const JobEntry& entry, int most) {
  if (!entry.job.spec().auto_layout()) return WrittenLayoutOn(entry.job.spec(), most);
  const v1::GrantedLayout* choice = NewestFullChoice(entry);
  const bool fits = choice != nullptr && choice->nodes() > 0 && choice->nodes() <= most;
  return fits ? std::optional(*choice) : std::nullopt;
}

std::optional<Gang> PlaceNow(const ClusterView& view, const JobEntry& entry, PlacementPass& pass) {
  const GangRequest request = RequestOf(entry);
  if (!request.elastic) return pass.Place(entry, request.Full());
  const QuotaPass quotas(view.state);
  auto found = ElasticSearch(view.state, quotas, pass)
                   .Find(entry, request, ElasticNodes::kKeptAndFree,
                         [&](int most) { return ElasticLayout(entry, most); });
  return found.has_value() ? std::optional(std::move(found->gang)) : std::nullopt;
}

// Adds the placement that the job would get on an empty cluster, if there is one.
void AddEmptyPlacement(const ClusterView& view, const JobEntry& entry,
                       v1::PlanJobResponse& response) {
  const v1::JobSpec& spec = entry.job.spec();
  const GangRequest request = RequestOf(entry);
  GangShape shape = request.Full();
  std::optional<Gang> gang = PlaceOnEmptyCluster(view.state, shape, spec);
  while (!gang.has_value() && shape.nodes > request.Least().nodes) {
    shape.nodes = LargestUsableNodes(spec, shape.nodes - 1);
    gang = PlaceOnEmptyCluster(view.state, shape, spec);
  }
  if (gang.has_value()) AddRanks(view, request, *gang, response);
}

// Adds the job's rank placement if the job can start now. Otherwise adds the pending reason, the
// queue position, and the placement that the job would get on an empty cluster.
void AddPlacement(const ClusterView& view, const JobEntry& entry, v1::PlanJobResponse& response) {
  PendingExplainer explainer(view);
  const int ahead = explainer.CountAhead(entry.job);
  const bool is_behind = explainer.IsBehindHead(entry.job);
  PlacementPass pass(view.state, {.changing = {},
                                  .closed = ClosedNodes(view.state, view.now),
                                  .roots = &view.observations.roots,
                                  .now = view.now});
  const GangRequest request = RequestOf(entry);
  const GangShape shape = request.Least();
  if (is_behind) AcceptBehindHeads(view, entry, pass);
  const std::optional<Gang> gang = PlaceNow(view, entry, pass);
  response.set_starts_now(gang.has_value());
  if (gang.has_value()) {
    *response.mutable_pending() = StartsAtOnce(view, entry);
    return AddRanks(view, request, *gang, response);
  }
  if (is_behind) {
    *response.mutable_pending() = explainer.WhyBehind(entry.job, ahead);
  } else {
    const FittingNodes fitting = pass.CountFittingNodes(entry, shape);
    const QueueHead head{.job_id = entry.job.id(),
                         .shortage = pass.ShortageOf(entry, shape),
                         .fitting_nodes = fitting.count,
                         .fitting_group = fitting.group};
    *response.mutable_pending() = WhyShort(view, entry, head);
  }
  response.mutable_pending()->set_queue_position(ahead + 1);
  AddEmptyPlacement(view, entry, response);
}

// Adds the reason why a job waits whose queue is at its limit, and the placement that it would get
// on an empty cluster.
void AddPlacementAtLimit(const ClusterView& view, const JobEntry& entry,
                         v1::PlanJobResponse& response) {
  *response.mutable_pending() = PendingExplainer(view).WhyQuota(entry);
  AddEmptyPlacement(view, entry, response);
}

// Adds the reason why a dependent job waits, and the placement that it would get on an empty
// cluster.
void AddDependentPlacement(const ClusterView& view, const JobEntry& entry,
                           v1::PlanJobResponse& response) {
  *response.mutable_pending() = WhyDependent(view.state, entry.job);
  AddEmptyPlacement(view, entry, response);
}

}  // namespace

absl::StatusOr<v1::PlanJobResponse> PreviewJob(const ClusterView& view, const v1::JobSpec& spec,
                                               const v1::GrantedLayout* layout,
                                               const ArchivedPrerequisites& archived) {
  v1::JobSpec full = spec;
  Origins origins;
  FillDefaults(full, origins);
  TRAINYARD_RETURN_IF_ERROR(CheckSpec(full, origins));
  TRAINYARD_RETURN_IF_ERROR(Admit(view.state, full));
  TRAINYARD_ASSIGN_OR_RETURN(const auto prerequisites,
                             FindPrerequisites(view.state, full, archived, view.options, view.now));
  v1::PlanJobResponse response;
  for (std::string& warning : CheckLaunch(full, origins)) {
    response.add_warnings(std::move(warning));
  }
  if (layout != nullptr) *response.mutable_layout() = *layout;
  JobEntry entry = EntryIfSubmitted(view, std::move(full), layout);
  entry.job.mutable_after()->Assign(prerequisites.begin(), prerequisites.end());
  if (layout != nullptr && layout->nodes() == 0) {
    *response.mutable_pending() = WhyNoLayout(entry);
  } else if (IsDependent(entry.job)) {
    AddDependentPlacement(view, entry, response);
  } else if (!QueueMayTake(view.state, ClassOf(entry.job))) {
    AddPlacementAtLimit(view, entry, response);
  } else {
    AddPlacement(view, entry, response);
  }
  AddDistances(view.state, entry.job.spec(), response);
  return response;
}

}  // namespace trainyard::controller
