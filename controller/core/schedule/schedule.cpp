#include "controller/core/schedule/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/schedule/gang_finder.h"
#include "controller/core/schedule/host_releases.h"
#include "controller/core/schedule/preemption.h"
#include "controller/core/schedule/promised_heads.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/schedule/quota_pass.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"

namespace trainyard::controller {
namespace {

// Assigns free slots to the jobs of the queue.
class QueueWalk {
 public:
  QueueWalk(const ClusterState& state, RendezvousPorts& ports, NodeLimits limits,
            const ExpectedEnds& expected_ends, const PassOptions& options, Timestamp now)
      : state_(state),
        ports_(ports),
        expected_ends_(expected_ends),
        options_(options),
        now_(now),
        pass_(state, std::move(limits)),
        quotas_(state),
        finder_(state, quotas_, pass_, now) {
    for (const auto& [job_id, reservation] : state.reservations) {
      recovering_.Insert(QueueKeyOf(state.jobs.at(job_id).job));
    }
  }

  Schedule Walk() {
    // A recovering job that gets all of its own slots back takes no slots from other jobs.
    // Therefore it need not wait for its turn.
    for (const QueueKey& place : recovering_) {
      const JobEntry& entry = state_.jobs.at(place.job_id);
      if (const auto found = finder_.FindAgain(entry)) {
        settled_.insert(place.job_id);
        Place(entry, *found);
      }
    }
    for (const v1::DeviceKind kind : kDeviceKinds) WalkQueue(kind);
    PlaceWithFewer();
    schedule_.layout_questions = finder_.TakeQuestions();
    return std::move(schedule_);
  }

 private:
  bool IsFull() const {
    return static_cast<int>(schedule_.placements.size()) >= kPlacementsPerPass;
  }

  void WalkQueue(v1::DeviceKind kind) {
    const std::vector<ClassRank> classes = RankClasses(state_, kind, now_);
    refused_.assign(classes.size(), std::nullopt);
    PlaceInOrder(kind, classes);
    auto job_class = state_.pending_classes.lower_bound({.kind = kind});
    schedule_.refusals.Reserve(schedule_.refusals.size() + classes.size());
    for (const std::optional<Refusal>& refusal : refused_) {
      if (refusal.has_value()) schedule_.refusals.Add(job_class->first, *refusal);
      ++job_class;
    }
  }

  void PlaceInOrder(v1::DeviceKind kind, const std::vector<ClassRank>& classes) {
    OrderedJobs jobs(classes);
    while (!jobs.empty()) {
      const OrderedJobs::Next next = jobs.front();
      const std::optional<Refusal> refusal = TryInOrder(next);
      if (!refusal.has_value()) {
        jobs.Advance();
        continue;
      }
      refused_[next.place->position] = refusal;
      if (*refusal == Refusal::kHead) return PlaceBehindHead(kind, jobs);
      jobs.CloseClass();
    }
  }

  // Places the job, or skips it because it requests no slots. Returns why not, otherwise.
  std::optional<Refusal> TryInOrder(const OrderedJobs::Next& next) {
    if (settled_.contains(next.job_id)) return std::nullopt;
    if (IsFull()) return Refusal::kNextPass;
    const JobEntry& entry = state_.jobs.at(next.job_id);
    if (!quotas_.Allows(*next.place->job_class)) return RefuseForQuota(entry);
    settled_.insert(next.job_id);
    const auto found = finder_.Find(entry);
    if (!found.has_value() && HasNoLayout(state_, entry)) return std::nullopt;
    if (found.has_value() && Place(entry, *found)) return std::nullopt;
    schedule_.heads[next.place->job_class->kind] =
        HeadOf(entry, found.has_value() ? std::optional(Shortage::kPort) : std::nullopt);
    return Refusal::kHead;
  }

  // A job that has waited long at a limit closes the limit to the jobs behind it.
  Refusal RefuseForQuota(const JobEntry& entry) {
    const JobClass job_class = ClassOf(entry.job);
    if (quotas_.IsClosedFor(job_class)) return Refusal::kClosedQuota;
    const bool waits_long = now_ - QueuedSince(entry.job) >= options_.preemption.wait_ms;
    if (waits_long && IsDue(entry, now_)) quotas_.CloseFor(job_class);
    return Refusal::kQuota;
  }

  // Places jobs behind the head that delay no promised head: jobs in their order until all promised
  // heads are found, and then those with the shortest time limits first.
  void PlaceBehindHead(v1::DeviceKind kind, OrderedJobs& jobs) {
    QueueHead& head = schedule_.heads.at(kind);
    const JobEntry& entry = state_.jobs.at(head.job_id);
    heads_.emplace(state_, options_.promised_heads, now_);
    head_ids_.clear();
    head.promised = Promise(entry);
    head.awaited_job_id = AwaitedJob(state_, heads_->first(), expected_ends_);
    // The head also needs the slots that are free now. In the next pass its promise protects them.
    if (Preempt(entry, head, heads_->first().releases())) return ForgetHeads();
    heads_->IsFull() ? jobs.CloseClass() : jobs.Advance();
    FindFurtherHeads(jobs);
    Backfill(jobs);
    ForgetHeads();
  }

  void ForgetHeads() {
    heads_.reset();
    quotas_.KeepFor({});
  }

  // Adds a head to heads_ and returns its promised time.
  Timestamp Promise(const JobEntry& entry) {
    heads_if_stopped_.reset();
    head_ids_.push_back(entry.job.id());
    const Timestamp promised = AddHead(entry, EndsBeforePlacements(), *heads_);
    quotas_.KeepFor(heads_->classes());
    return promised;
  }

  Timestamp AddHead(const JobEntry& entry, const ExpectedEnds& ends, PromisedHeads& heads) {
    std::vector<StartedGang> started;
    for (const Placement& placement : schedule_.placements) {
      started.push_back({placement.gang, state_.jobs.at(placement.job_id)});
    }
    Releases releases = ReleasesForHead(state_, pass_, entry, ends, now_, started);
    return heads.Add(entry, std::move(releases), pass_.GroupsFor(entry, LeastShape(entry)));
  }

  // Places jobs in their order. Each one that does not fit beside the heads before it is the next
  // head.
  void FindFurtherHeads(OrderedJobs& jobs) {
    while (!jobs.empty() && !heads_->IsFull()) {
      const OrderedJobs::Next next = jobs.front();
      const JobClass& job_class = *next.place->job_class;
      const std::optional<Refusal> refusal = TryBehindHead(next.job_id, job_class);
      if (refusal.has_value()) refused_[next.place->position] = refusal;
      const bool is_head = refusal == Refusal::kSlots || refusal == Refusal::kDelaysHead;
      if (is_head) {
        const JobEntry& entry = state_.jobs.at(next.job_id);
        // A job that would delay a head lacks slots beside it.
        const bool delays = refusal == Refusal::kDelaysHead;
        QueueHead head = HeadOf(entry, delays ? std::optional(Shortage::kSlots) : std::nullopt);
        head.promised = Promise(entry);
        schedule_.further_heads.push_back(std::move(head));
      }
      const bool is_closed = refusal.has_value() && (!is_head || heads_->IsFull());
      is_closed ? jobs.CloseClass() : jobs.Advance();
    }
  }

  void Backfill(OrderedJobs& jobs) {
    for (const OrderedJobs::Next& place : jobs.TakeShortestFirst()) BackfillClass(place);
  }

  void BackfillClass(const OrderedJobs::Next& place) {
    const JobClass& job_class = *place.place->job_class;
    const auto end = place.place->jobs->end();
    for (auto id = place.place->jobs->find(place.job_id); id != end; ++id) {
      const std::optional<Refusal> refusal = TryBehindHead(*id, job_class);
      if (!refusal.has_value()) continue;
      refused_[place.place->position] = refusal;
      return;
    }
  }

  std::optional<Refusal> TryBehindHead(int64_t job_id, const JobClass& job_class) {
    if (settled_.contains(job_id)) return std::nullopt;
    if (IsFull()) return Refusal::kNextPass;
    if (!quotas_.Allows(job_class)) return RefuseForQuota(state_.jobs.at(job_id));
    if (!quotas_.AllowsBeside(job_class, heads_->classes())) return Refusal::kClosedQuota;
    if (const auto known = KnownRefusal(job_class)) return known;
    const JobEntry& entry = state_.jobs.at(job_id);
    const Timestamp end = LatestEnd(job_class, now_);
    bool delays_head = false;
    const auto found = FindBehindHead(entry, end, delays_head);
    if (!found.has_value() && HasNoLayout(state_, entry)) return std::nullopt;
    if (!found.has_value()) {
      const Refusal refusal = delays_head ? Refusal::kDelaysHead : Refusal::kSlots;
      // Before all heads are found, a later job may end earlier, and then not delay the heads.
      const bool applies_later = heads_->IsFull() || refusal == Refusal::kSlots;
      if (applies_later) refused_requests_.insert_or_assign(SlotRequestOf(job_class), refusal);
      return refusal;
    }
    settled_.insert(job_id);
    heads_->Take(found->gang, entry, end);
    if (heads_if_stopped_.has_value()) heads_if_stopped_->Take(found->gang, entry, end);
    return Place(entry, *found) ? std::nullopt : std::optional(Refusal::kSlots);
  }

  // Returns why a job with the same request was refused in this pass. The refusal applies to this
  // job too: free slots only become fewer during a pass, and this job does not end earlier, because
  // the classes are tried in the order of their latest ends.
  std::optional<Refusal> KnownRefusal(const JobClass& job_class) const {
    // Reservations of nodes make a difference between jobs of several queues and users.
    if (!pass_.reserved().empty()) return std::nullopt;
    const auto found = refused_requests_.find(SlotRequestOf(job_class));
    return found == refused_requests_.end() ? std::nullopt : std::optional(found->second);
  }

  // Finds a gang that does not delay the head. If the best fit delays it, searches again without
  // the nodes that the head cannot spare.
  std::optional<FoundGang> FindBehindHead(const JobEntry& entry, Timestamp end, bool& delays_head) {
    pass_.AcceptOnly([&](const Gang& gang) {
      if (SparesHeads(gang, entry, end)) return true;
      delays_head = true;
      return false;
    });
    auto found = finder_.Find(entry);
    if (!found.has_value() && delays_head) found = FindBesideHeads(entry, end);
    pass_.AcceptOnly(nullptr);
    return found;
  }

  // Returns true if the gang, which then holds its slots until `end`, delays no head, no matter
  // whether attempts that stop use all of their time to save or end at once.
  bool SparesHeads(const Gang& gang, const JobEntry& entry, Timestamp end) {
    if (!heads_->Allows(gang, entry, end)) return false;
    const PromisedHeads* if_stopped = HeadsIfStopped();
    return if_stopped == nullptr || if_stopped->Allows(gang, entry, end);
  }

  // Returns the promises that hold if all attempts that stop end at once. nullptr if none stops.
  const PromisedHeads* HeadsIfStopped() {
    if (heads_if_stopped_.has_value()) return &*heads_if_stopped_;
    const std::set<int64_t>& stopping = state_.stopping_jobs;
    if (stopping.empty()) return nullptr;
    const ExpectedEnds ends = EndsBeforePlacements();
    const auto if_stopped = [&](int64_t id) { return stopping.contains(id) ? now_ + 1 : ends(id); };
    heads_if_stopped_.emplace(state_, options_.promised_heads, now_);
    for (const int64_t id : head_ids_) AddHead(state_.jobs.at(id), if_stopped, *heads_if_stopped_);
    return &*heads_if_stopped_;
  }

  // Searches without the nodes that the heads cannot spare. Which nodes the first head spares
  // depends on the group of nodes from which the gang is to come.
  std::optional<FoundGang> FindBesideHeads(const JobEntry& entry, Timestamp end) {
    std::optional<FoundGang> found;
    for (const NodeGroup& group : pass_.GroupsFor(entry, LeastShape(entry))) {
      std::set<std::string> nodes = heads_->NodesNotToTake(entry, group, end);
      if (const PromisedHeads* if_stopped = HeadsIfStopped()) {
        nodes.merge(if_stopped->NodesNotToTake(entry, group, end));
      }
      pass_.Avoid(std::move(nodes));
      found = finder_.Find(entry);
      if (found.has_value()) break;
    }
    pass_.Avoid({});
    return found;
  }

  // Returns true if the head preempts running jobs.
  bool Preempt(const JobEntry& entry, const QueueHead& head, const Releases& releases) {
    const bool waits_long = now_ - QueuedSince(entry.job) >= options_.preemption.wait_ms &&
                            head.promised - now_ >= options_.preemption.wait_ms;
    if (!waits_long || head.shortage != Shortage::kSlots || !IsDue(entry, now_)) return false;
    if (AnyYieldsFor(state_, head.job_id)) return false;
    if (!AnyMayYieldTo(state_, entry, options_.preemption, now_)) return false;
    Preemption cheapest{head.job_id, {}, {}};
    int64_t least_cost = 0;
    for (const auto& nodes : pass_.UsableNodes(entry, LeastShape(entry))) {
      Releases usable;
      for (const auto& [id, times] : releases) {
        const std::string node(id);
        // The search does not know the cores and memory that this pass has assigned.
        const bool is_known = heads_->first_shape().host.IsZero() || !pass_.HasTaken(node);
        if (is_known && nodes.contains(node)) usable.Add(id, times);
      }
      Victims victims = JobsToPreempt(state_, entry, usable, options_.preemption, now_);
      if (victims.job_ids.empty()) continue;
      const int64_t cost = CostOfPreemption(state_, victims.job_ids, now_);
      if (!cheapest.job_ids.empty() && cost >= least_cost) continue;
      cheapest = {head.job_id, std::move(victims.job_ids), std::move(victims.nodes)};
      least_cost = cost;
    }
    if (cheapest.job_ids.empty()) return false;
    schedule_.preemptions.push_back(std::move(cheapest));
    return true;
  }

  // Expected ends, in which slots of recovering jobs that this pass has placed are free now.
  ExpectedEnds EndsBeforePlacements() const {
    std::set<int64_t> placed;
    for (const Placement& placement : schedule_.placements) placed.insert(placement.job_id);
    return [this, placed = std::move(placed)](int64_t job_id) {
      return placed.contains(job_id) ? now_ : expected_ends_(job_id);
    };
  }

  Shortage ShortageOf(const JobEntry& entry, const GangShape& least) {
    return finder_.AwaitsChoice(entry, least) ? Shortage::kLayout : pass_.ShortageOf(entry, least);
  }

  // Describes the job as a head. `known`: what the job lacks; nullopt if it is not known.
  QueueHead HeadOf(const JobEntry& entry, std::optional<Shortage> known) {
    const GangShape least = LeastShape(entry);
    FittingNodes fitting = pass_.CountFittingNodes(entry, least);
    return {.job_id = entry.job.id(),
            .shortage = known.has_value() ? *known : ShortageOf(entry, least),
            .fitting_nodes = fitting.count,
            .fitting_group = std::move(fitting.group)};
  }

  // For each recovering job behind the head of the queue, tries a placement on fewer nodes in the
  // job's own slots. If the head is not recovering, such a job may also use free slots.
  void PlaceWithFewer() {
    // A head that is not recovering, such as a resumed job, may wait for slots that recovering jobs
    // have reserved. If recovering jobs could not take free slots, they and the head would wait for
    // each other.
    for (const QueueKey& place : recovering_) {
      const JobEntry& entry = state_.jobs.at(place.job_id);
      if (settled_.contains(place.job_id) || !IsDue(entry, now_)) continue;
      const GangRequest request = GangRequestOf(entry.job.spec());
      auto found = finder_.FindFewerKept(entry);
      if (!found.has_value() && !request.elastic) {
        const QueueHead* head = schedule_.HeadOf(request.kind);
        const bool head_recovers = head == nullptr || state_.reservations.contains(head->job_id);
        const bool may_grow = !head_recovers && quotas_.Allows(ClassOf(entry.job));
        if (may_grow) found = finder_.Find(entry);
      }
      if (found.has_value()) Place(entry, *found);
    }
  }

  int64_t NextAttempt(const JobEntry& entry) const {
    const v1::Attempt* before = NewestAttempt(entry);
    const bool restored = entry.job.id() < state_.restored_jobs_below;
    return std::max(before == nullptr ? 1 : before->number() + 1,
                    restored ? state_.restored_attempt : 1);
  }

  // Returns false if no rendezvous port is free. A job in its backoff is not placed, but keeps its
  // slots in this pass.
  bool Place(const JobEntry& entry, const FoundGang& found) {
    if (!IsDue(entry, now_)) return true;
    const v1::Attempt* before = NewestAttempt(entry);
    Placement placement{.job_id = entry.job.id(),
                        .attempt = NextAttempt(entry),
                        .gang = found.gang,
                        .heads_before = heads_.has_value() ? std::ssize(heads_->classes()) : 0};
    placement.master_address = state_.nodes.at(found.gang.front().node_id).node.address();
    const auto port =
        ports_.Find({entry.job.id(), placement.attempt}, 1,
                    before == nullptr ? 0 : before->master_port(), placement.master_address);
    if (!port.has_value()) return false;
    placement.master_port = *port;
    placement.layout = found.layout;
    int64_t slots = 0;
    for (const NodeSlots& node : found.gang) slots += static_cast<int64_t>(node.slots.size());
    quotas_.Take(ClassOf(entry.job), slots);
    schedule_.placements.push_back(std::move(placement));
    return true;
  }

  const ClusterState& state_;
  RendezvousPorts& ports_;
  const ExpectedEnds& expected_ends_;
  const PassOptions options_;
  const Timestamp now_;
  PlacementPass pass_;
  // Jobs with a reservation, in queue order.
  JobQueue recovering_;
  // Jobs that this pass has already handled.
  std::set<int64_t> settled_;
  QuotaPass quotas_;
  GangFinder finder_;
  // The promised heads of the queue, while jobs behind the first one are placed.
  std::optional<PromisedHeads> heads_;
  std::vector<int64_t> head_ids_;
  // HeadsIfStopped. Computed when a gang would start, because most passes start none.
  std::optional<PromisedHeads> heads_if_stopped_;
  // Why the classes of the queue were refused, in the order of JobClass.
  std::vector<std::optional<Refusal>> refused_;
  // Why jobs behind the head with these requests were refused in this pass. The requests are parts
  // of classes in state_.
  std::map<SlotRequest, Refusal> refused_requests_;
  Schedule schedule_;
};

}  // namespace

Schedule MakeSchedule(const ClusterState& state, RendezvousPorts& ports, NodeLimits limits,
                      const ExpectedEnds& expected_ends, Timestamp now,
                      const PassOptions& options) {
  limits.now = now;
  return QueueWalk(state, ports, std::move(limits), expected_ends, options, now).Walk();
}

const QueueHead* Schedule::HeadOf(v1::DeviceKind kind) const {
  const auto found = heads.find(kind);
  return found == heads.end() ? nullptr : &found->second;
}

std::vector<QueueHead> Schedule::PromisedHeadsOf(const ClusterState& state,
                                                 v1::DeviceKind kind) const {
  std::vector<QueueHead> promised;
  const auto add = [&](const QueueHead& head) {
    const JobEntry* entry = FindEntry(state, head.job_id);
    if (entry == nullptr || GangRequestOf(entry->job.spec()).kind != kind) return;
    promised.push_back(head);
  };
  if (const QueueHead* head = HeadOf(kind)) add(*head);
  std::ranges::for_each(further_heads, add);
  return promised;
}

const QueueHead* Schedule::AsHead(int64_t job_id) const {
  for (const auto& [kind, head] : heads) {
    if (head.job_id == job_id) return &head;
  }
  const auto further = std::ranges::find(further_heads, job_id, &QueueHead::job_id);
  return further == further_heads.end() ? nullptr : &*further;
}

std::optional<Refusal> Schedule::RefusalOf(const v1::Job& job) const {
  return refusals.Find(ClassOf(job));
}

}  // namespace trainyard::controller
