#include "controller/core/schedule/schedule.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/core/schedule/admission.h"
#include "controller/core/schedule/elastic_gang.h"
#include "controller/core/schedule/host_releases.h"
#include "controller/core/schedule/preemption.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/schedule/quota_pass.h"
#include "controller/core/state/class_of_job.h"
#include "controller/core/state/gang_request.h"
#include "controller/core/state/job_timing.h"
#include "controller/core/state/node_groups.h"
#include "controller/core/state/queues.h"

namespace trainyard::controller {
namespace {

// Assigns free slots to the jobs of the queue.
class QueueWalk {
 public:
  QueueWalk(const ClusterState& state, RendezvousPorts& ports, NodeLimits limits,
            const ExpectedEnds& expected_ends, const PreemptionLimits& preemption, Timestamp now)
      : state_(state),
        ports_(ports),
        expected_ends_(expected_ends),
        preemption_(preemption),
        now_(now),
        pass_(state, std::move(limits)),
        quotas_(state) {
    for (const auto& [job_id, reservation] : state.reservations) {
      recovering_.Insert(QueueKeyOf(state.jobs.at(job_id).job));
    }
  }

  Schedule Walk() {
    // A recovering job that gets all of its own slots back takes no slots from other jobs.
    // Therefore it need not wait for its turn.
    for (const QueueKey& place : recovering_) {
      const JobEntry& entry = state_.jobs.at(place.job_id);
      if (const auto found = FindAgain(entry)) {
        settled_.insert(place.job_id);
        Place(entry, *found);
      }
    }
    for (const v1::DeviceKind kind : kDeviceKinds) WalkQueue(kind);
    PlaceWithFewer();
    return std::move(schedule_);
  }

 private:
  bool IsFull() const {
    return static_cast<int>(schedule_.placements.size()) >= kPlacementsPerPass;
  }

  void WalkQueue(v1::DeviceKind kind) {
    const std::vector<ClassRank> classes = RankClasses(state_, kind, now_);
    OrderedJobs jobs(classes);
    while (!jobs.empty()) {
      const OrderedJobs::Next next = jobs.front();
      const std::optional<Refusal> refusal = TryInOrder(next);
      if (!refusal.has_value()) {
        jobs.Advance();
        continue;
      }
      schedule_.refusals[*next.place->job_class] = *refusal;
      jobs.CloseClass();
      if (*refusal == Refusal::kHead) return Backfill(kind, jobs);
    }
  }

  // Places the job, or skips it because it requests no slots. Returns why not, otherwise.
  std::optional<Refusal> TryInOrder(const OrderedJobs::Next& next) {
    if (settled_.contains(next.job_id)) return std::nullopt;
    if (IsFull()) return Refusal::kNextPass;
    const JobEntry& entry = state_.jobs.at(next.job_id);
    if (!quotas_.Allows(*next.place->job_class)) return RefuseForQuota(entry);
    settled_.insert(next.job_id);
    const auto found = Find(entry);
    if (!found.has_value() && HasNoLayout(state_, entry)) return std::nullopt;
    if (found.has_value() && Place(entry, *found)) return std::nullopt;
    EndAt(entry, found.has_value());
    return Refusal::kHead;
  }

  // A job that has waited long at a limit closes the limit to the jobs behind it.
  Refusal RefuseForQuota(const JobEntry& entry) {
    const JobClass job_class = ClassOf(entry.job);
    if (quotas_.IsClosedFor(job_class)) return Refusal::kClosedQuota;
    const bool waits_long = now_ - QueuedSince(entry.job) >= preemption_.wait_ms;
    if (waits_long && IsDue(entry, now_)) quotas_.CloseFor(job_class);
    return Refusal::kQuota;
  }

  // Places jobs behind the head that do not delay it.
  void Backfill(v1::DeviceKind kind, OrderedJobs& jobs) {
    QueueHead& head = schedule_.heads.at(kind);
    const JobEntry& entry = state_.jobs.at(head.job_id);
    const GangShape shape = LeastShape(entry);
    Releases releases = ReleasesForHead(state_, pass_, entry, EndsBeforePlacements(), now_);
    for (const Placement& placement : schedule_.placements) {
      OccupySeats(placement.gang, state_.jobs.at(placement.job_id), entry, now_, releases);
    }
    promise_.emplace(shape, state_.reservations.contains(head.job_id), std::move(releases),
                     GroupsWithLayout(entry, shape, pass_.GroupsFor(entry, shape)));
    head.promised = promise_->promised();
    head_class_ = ClassOf(entry.job);
    head_shape_ = shape;
    head.awaited_job_id = AwaitedJob(state_, *promise_, expected_ends_);
    // The head also needs the slots that are free now. In the next pass its promise protects them.
    if (Preempt(entry, head, promise_->releases())) return promise_.reset();
    std::vector<OrderedJobs::Next> places;
    for (; !jobs.empty(); jobs.CloseClass()) places.push_back(jobs.front());
    std::ranges::stable_sort(places, {}, [](const OrderedJobs::Next& next) {
      return LatestEnd(*next.place->job_class, 0);
    });
    for (const OrderedJobs::Next& place : places) BackfillClass(place);
    promise_.reset();
  }

  void BackfillClass(const OrderedJobs::Next& place) {
    const JobClass& job_class = *place.place->job_class;
    const auto end = place.place->jobs->end();
    for (auto id = place.place->jobs->find(place.job_id); id != end; ++id) {
      const std::optional<Refusal> refusal = TryBehindHead(*id, job_class);
      if (!refusal.has_value()) continue;
      schedule_.refusals[job_class] = *refusal;
      return;
    }
  }

  std::optional<Refusal> TryBehindHead(int64_t job_id, const JobClass& job_class) {
    if (settled_.contains(job_id)) return std::nullopt;
    if (IsFull()) return Refusal::kNextPass;
    const JobEntry& entry = state_.jobs.at(job_id);
    if (!quotas_.Allows(job_class)) return RefuseForQuota(entry);
    if (!quotas_.AllowsBeside(job_class, head_class_)) return Refusal::kClosedQuota;
    const Timestamp end = LatestEnd(job_class, now_);
    if (const auto known = KnownRefusal(job_class)) return known;
    bool delays_head = false;
    const auto found = FindBehindHead(entry, end, delays_head);
    if (!found.has_value() && HasNoLayout(state_, entry)) return std::nullopt;
    if (!found.has_value()) {
      const Refusal refusal = delays_head ? Refusal::kDelaysHead : Refusal::kSlots;
      refused_requests_.insert_or_assign(SlotRequestOf(job_class), refusal);
      return refusal;
    }
    settled_.insert(job_id);
    promise_->Take(InSeats(found->gang, entry, head_shape_), end);
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
      if (SparesHead(gang, entry, end)) return true;
      delays_head = true;
      return false;
    });
    auto found = Find(entry);
    if (!found.has_value() && delays_head) found = FindBesideHead(entry);
    pass_.AcceptOnly(nullptr);
    return found;
  }

  // Returns true if the gang, which then holds its slots until `end`, does not delay the head.
  bool SparesHead(const Gang& gang, const JobEntry& entry, Timestamp end) const {
    if (head_shape_.host.IsZero()) return promise_->Allows(gang, end);
    return promise_->Allows(InSeats(gang, entry, head_shape_), end);
  }

  // Searches without the nodes that the head cannot spare. Which nodes it spares depends on the
  // group of nodes from which the gang is to come.
  std::optional<FoundGang> FindBesideHead(const JobEntry& entry) {
    const GangShape shape = LeastShape(entry);
    std::optional<FoundGang> found;
    for (const NodeGroup& group : pass_.GroupsFor(entry, shape)) {
      const int seats = SeatsTaken(shape.slots_per_node, shape.host, head_shape_);
      pass_.Avoid(promise_->NodesNotToTake(seats, group, now_));
      found = Find(entry);
      if (found.has_value()) break;
    }
    pass_.Avoid({});
    return found;
  }

  // Returns true if the head preempts running jobs.
  bool Preempt(const JobEntry& entry, const QueueHead& head, const Releases& releases) {
    const bool waits_long = now_ - QueuedSince(entry.job) >= preemption_.wait_ms &&
                            head.promised - now_ >= preemption_.wait_ms;
    if (!waits_long || head.shortage != Shortage::kSlots || !IsDue(entry, now_)) return false;
    if (AnyYieldsFor(state_, head.job_id)) return false;
    if (!AnyMayYieldTo(state_, entry, preemption_, now_)) return false;
    Preemption cheapest{head.job_id, {}, {}};
    int64_t least_cost = 0;
    for (const auto& nodes : pass_.UsableNodes(entry, LeastShape(entry))) {
      Releases usable;
      for (const auto& [id, times] : releases) {
        const std::string node(id);
        // The search does not know the cores and memory that this pass has assigned.
        const bool is_known = head_shape_.host.IsZero() || !pass_.HasTaken(node);
        if (is_known && nodes.contains(node)) usable.Add(id, times);
      }
      Victims victims = JobsToPreempt(state_, entry, usable, preemption_, now_);
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

  void EndAt(const JobEntry& entry, bool has_slots) {
    const GangRequest request = GangRequestOf(entry.job.spec());
    const GangShape least = LeastShape(entry);
    QueueHead& head = schedule_.heads[request.kind];
    head.job_id = entry.job.id();
    FittingNodes fitting = pass_.CountFittingNodes(entry, least);
    head.fitting_nodes = fitting.count;
    head.fitting_group = std::move(fitting.group);
    head.shortage = has_slots                             ? Shortage::kPort
                    : AwaitsChoice(entry, request, least) ? Shortage::kLayout
                                                          : pass_.ShortageOf(entry, least);
  }

  // `shape`: the smallest shape with which the job may start.
  bool AwaitsChoice(const JobEntry& entry, const GangRequest& request, const GangShape& shape) {
    if (!request.auto_layout) return false;
    // Without slots of a usable kind, no layout choice is needed yet, because the job waits for
    // slots.
    const std::vector<std::string>& devices = DevicesFor(entry, request);
    // The head's promise and preemptions for it need the layout of the smallest shape.
    for (const std::string& device : devices) {
      if (!request.elastic) break;
      GangShape least = shape;
      least.device = device;
      ChoiceFor(entry, least);
    }
    return !devices.empty() && std::ranges::all_of(devices, [&](const std::string& device) {
      return FindChoice(entry, {entry.job.id(), shape, device}) == nullptr;
    });
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
      if (request.elastic) {
        const auto found = ForEachDevice(entry, [&](const GangRequest& on_device) {
          return FindElastic(entry, on_device, ElasticNodes::kKept);
        });
        if (found.has_value()) Place(entry, *found);
        continue;
      }
      const QueueHead* head = schedule_.HeadOf(request.kind);
      const bool waits_at_earlier = head != nullptr && !state_.reservations.contains(head->job_id);
      auto found = ForEachDevice(entry, [&](const GangRequest& on_device) {
        auto fewer = FindFewerSpares(entry, on_device, /*with_free=*/false);
        return fewer.has_value() ? fewer : FindFewer(entry, on_device, /*with_free=*/false);
      });
      const bool may_grow = waits_at_earlier && quotas_.Allows(ClassOf(entry.job));
      if (!found.has_value() && may_grow) found = Find(entry);
      if (found.has_value()) Place(entry, *found);
    }
  }

  // Returns the job's choice for this shape. If there is none yet, adds a question and returns
  // nullptr.
  const v1::GrantedLayout* ChoiceFor(const JobEntry& entry, const GangShape& shape) {
    LayoutQuestion question{entry.job.id(), shape, shape.device};
    const v1::GrantedLayout* choice = FindChoice(entry, question);
    const bool is_new =
        choice == nullptr && asked_.emplace(question.job_id, shape.nodes, shape.device).second;
    if (is_new) schedule_.layout_questions.push_back(std::move(question));
    return choice;
  }

  const std::vector<std::string>& DevicesFor(const JobEntry& entry, const GangRequest& request) {
    const auto [found, is_new] =
        devices_.try_emplace({request.kind, request.Least().nodes, request.slots_per_node,
                              PlacementKey(entry.job.spec())});
    if (is_new) found->second = DevicesForLayouts(state_, entry.job.spec(), request.Least());
    return found->second;
  }

  // Calls `find` once, or, if the controller chooses the layout, for each kind of device until it
  // finds a gang: a layout is chosen for one kind.
  std::optional<FoundGang> ForEachDevice(
      const JobEntry& entry,
      const std::function<std::optional<FoundGang>(const GangRequest&)>& find) {
    GangRequest request = GangRequestOf(entry.job.spec());
    if (!request.auto_layout) return find(request);
    for (const std::string& device : DevicesFor(entry, request)) {
      request.device = device;
      if (auto found = find(request)) return found;
    }
    return std::nullopt;
  }

  static std::optional<v1::GrantedLayout> CopyOf(const v1::GrantedLayout* choice) {
    return choice == nullptr ? std::nullopt : std::optional(*choice);
  }

  std::optional<FoundGang> FindElastic(const JobEntry& entry, const GangRequest& request,
                                       ElasticNodes nodes) {
    const auto layout_on = [&](int most) -> std::optional<v1::GrantedLayout> {
      if (!request.auto_layout) return WrittenLayoutOn(entry.job.spec(), most);
      const v1::GrantedLayout* choice = ChoiceFor(entry, request.ShapeOn(most));
      if (choice == nullptr || choice->nodes() == 0) return std::nullopt;
      return *choice;
    };
    return ElasticSearch(state_, quotas_, pass_).Find(entry, request, nodes, layout_on);
  }

  std::optional<FoundGang> FindAgain(const JobEntry& entry) {
    return ForEachDevice(entry,
                         [&](const GangRequest& request) { return FindAgainOn(entry, request); });
  }

  std::optional<FoundGang> FindAgainOn(const JobEntry& entry, const GangRequest& request) {
    if (request.elastic) return FindElastic(entry, request, ElasticNodes::kAllOfNewest);
    const v1::GrantedLayout* choice =
        request.auto_layout ? ChoiceFor(entry, request.Full()) : nullptr;
    if (request.auto_layout && (choice == nullptr || choice->nodes() == 0)) return std::nullopt;
    auto gang = pass_.PlaceAgain(entry, request.Full());
    if (!gang.has_value()) return std::nullopt;
    return FoundGang{*std::move(gang), CopyOf(choice)};
  }

  std::optional<FoundGang> Find(const JobEntry& entry) {
    return ForEachDevice(entry, [&](const GangRequest& request) { return FindOn(entry, request); });
  }

  std::optional<FoundGang> FindOn(const JobEntry& entry, const GangRequest& request) {
    if (request.elastic) return FindElastic(entry, request, ElasticNodes::kKeptAndFree);
    const v1::GrantedLayout* choice =
        request.auto_layout ? ChoiceFor(entry, request.Full()) : nullptr;
    if (request.auto_layout && (choice == nullptr || choice->nodes() == 0)) return std::nullopt;
    if (auto gang = pass_.Place(entry, request.Full())) {
      return FoundGang{*std::move(gang), CopyOf(choice)};
    }
    const bool recovers = state_.reservations.contains(entry.job.id());
    if (!recovers && !LacksNodesSincePause(entry, request)) return std::nullopt;
    // Fewer spares are tried even during the job's backoff. If a gang is found, the job keeps its
    // slots for this pass and does not block the queue.
    if (auto fewer = FindFewerSpares(entry, request, /*with_free=*/true)) return fewer;
    if (!IsDue(entry, now_)) return std::nullopt;
    if (auto fewer = FindFewer(entry, request, /*with_free=*/true)) return fewer;
    if (!recovers) return std::nullopt;
    auto gang = pass_.PlaceOverReservations(entry, request.WithoutSpares());
    if (!gang.has_value()) return std::nullopt;
    return FoundGang{*std::move(gang), CopyOf(choice)};
  }

  // Returns true if the job has run before, and since then the cluster has become too small for it.
  bool LacksNodesSincePause(const JobEntry& entry, const GangRequest& request) const {
    return NewestAttempt(entry) != nullptr &&
           !CheckGangFits(state_, entry.job.spec(), request.Full()).ok();
  }

  // Returns the gang of a recovering job with as many spare nodes as possible, but fewer than
  // requested. Training with fewer spares is better than waiting.
  std::optional<FoundGang> FindFewerSpares(const JobEntry& entry, const GangRequest& request,
                                           bool with_free) {
    GangShape shape = request.Full();
    while (--shape.nodes >= request.nodes) {
      auto gang = with_free ? pass_.Place(entry, shape) : pass_.PlaceAgain(entry, shape);
      if (gang.has_value()) return FoundGang{*std::move(gang), std::nullopt};
    }
    return std::nullopt;
  }

  // Returns the gang of a recovering job with auto_layout on its remaining nodes.
  std::optional<FoundGang> FindFewer(const JobEntry& entry, const GangRequest& request,
                                     bool with_free) {
    if (request.min_nodes == request.nodes) return std::nullopt;
    GangShape shape = request.ShapeOn(pass_.CountUsable(entry, request.Full(), with_free));
    if (shape.nodes < request.min_nodes || shape.nodes == request.max_nodes) return std::nullopt;
    const v1::GrantedLayout* choice = ChoiceFor(entry, shape);
    if (choice == nullptr || choice->nodes() == 0) return std::nullopt;
    shape.nodes = choice->nodes();
    auto gang = with_free ? pass_.Place(entry, shape) : pass_.PlaceAgain(entry, shape);
    if (!gang.has_value()) return std::nullopt;
    return FoundGang{*std::move(gang), CopyOf(choice)};
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
                        .is_behind_head = promise_.has_value()};
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
  const PreemptionLimits preemption_;
  const Timestamp now_;
  PlacementPass pass_;
  // Jobs with a reservation, in queue order.
  JobQueue recovering_;
  // Jobs that this pass has already handled.
  std::set<int64_t> settled_;
  QuotaPass quotas_;
  // The class and the shape of the head, and the promise to it, while later jobs are placed.
  JobClass head_class_;
  GangShape head_shape_;
  std::optional<HeadPromise> promise_;
  // Why jobs behind the head with these requests were refused in this pass.
  std::map<JobClass, Refusal> refused_requests_;
  // By kind of slot, nodes, slots per node, and placement of a job (PlacementKey).
  std::map<std::tuple<v1::DeviceKind, int, int, std::string>, std::vector<std::string>> devices_;
  // Jobs, numbers of nodes and devices for which the schedule already has a layout question.
  std::set<std::tuple<int64_t, int, std::string>> asked_;
  Schedule schedule_;
};

}  // namespace

Schedule MakeSchedule(const ClusterState& state, RendezvousPorts& ports, NodeLimits limits,
                      const ExpectedEnds& expected_ends, Timestamp now,
                      const PreemptionLimits& preemption) {
  limits.now = now;
  return QueueWalk(state, ports, std::move(limits), expected_ends, preemption, now).Walk();
}

const QueueHead* Schedule::HeadOf(v1::DeviceKind kind) const {
  const auto found = heads.find(kind);
  return found == heads.end() ? nullptr : &found->second;
}

const QueueHead* Schedule::AsHead(int64_t job_id) const {
  for (const auto& [kind, head] : heads) {
    if (head.job_id == job_id) return &head;
  }
  return nullptr;
}

}  // namespace trainyard::controller
