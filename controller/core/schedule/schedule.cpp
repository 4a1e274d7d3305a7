#include "controller/core/schedule/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "controller/core/schedule/admission.h"
#include "controller/core/state/gang_request.h"
#include "controller/core/state/job_timing.h"

namespace trainyard::controller {
namespace {

// A gang and its layout, which is set if the controller chose it.
struct FoundGang {
  Gang gang;
  const v1::GrantedLayout* layout = nullptr;
};

// Assigns free slots to the jobs of the queue.
class QueueWalk {
 public:
  QueueWalk(const ClusterState& state, RendezvousPorts& ports, NodeLimits limits, Timestamp now)
      : state_(state), ports_(ports), now_(now), pass_(state, std::move(limits)) {
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
    WalkQueue();
    PlaceWithFewer();
    return std::move(schedule_);
  }

 private:
  void WalkQueue() {
    for (const QueueKey& place : state_.pending_jobs) {
      if (static_cast<int>(schedule_.placements.size()) >= kPlacementsPerPass) return;
      if (settled_.contains(place.job_id)) continue;
      const JobEntry& entry = state_.jobs.at(place.job_id);
      settled_.insert(place.job_id);
      const auto found = Find(entry);
      if (!found.has_value() && HasNoLayout(entry)) continue;
      if (found.has_value() && Place(entry, *found)) continue;
      EndAt(entry, found.has_value());
      return;
    }
  }

  void EndAt(const JobEntry& entry, bool has_slots) {
    QueueHead& head = schedule_.head.emplace(QueueHead{.job_id = entry.job.id()});
    const GangRequest request = GangRequestOf(entry.job.spec());
    head.fitting_nodes = pass_.CountFittingNodes(request.Full());
    head.shortage = has_slots                      ? Shortage::kPort
                    : AwaitsChoice(entry, request) ? Shortage::kLayout
                                                   : pass_.ShortageOf(entry, request.Full());
  }

  bool AwaitsChoice(const JobEntry& entry, const GangRequest& request) {
    if (!request.auto_layout) return false;
    const GangShape shape = request.Full();
    const std::string& device = DeviceFor(shape);
    // Without slots of a usable kind, no layout choice is needed yet, because the job waits for
    // slots.
    return !device.empty() && FindChoice(entry, {entry.job.id(), shape, device}) == nullptr;
  }

  // For each recovering job behind the head of the queue, tries a placement on fewer nodes in the
  // job's own slots. If the head is not recovering, such a job may also use free slots.
  void PlaceWithFewer() {
    // A head that is not recovering, such as a resumed job, may wait for slots that recovering jobs
    // have reserved. If recovering jobs could not take free slots, they and the head would wait for
    // each other.
    const bool head_recovers =
        schedule_.head.has_value() && state_.reservations.contains(schedule_.head->job_id);
    const bool waits_at_earlier = schedule_.head.has_value() && !head_recovers;
    for (const QueueKey& place : recovering_) {
      const JobEntry& entry = state_.jobs.at(place.job_id);
      if (settled_.contains(place.job_id) || !IsDue(entry, now_)) continue;
      const GangRequest request = GangRequestOf(entry.job.spec());
      auto found = FindFewerSpares(entry, request, /*with_free=*/false);
      if (!found.has_value()) found = FindFewer(entry, request, /*with_free=*/false);
      if (!found.has_value() && waits_at_earlier) found = Find(entry);
      if (found.has_value()) Place(entry, *found);
    }
  }

  // Returns the job's choice for this shape. If there is none yet, adds a question and returns
  // nullptr.
  const v1::GrantedLayout* ChoiceFor(const JobEntry& entry, const GangShape& shape) {
    LayoutQuestion question{entry.job.id(), shape, DeviceFor(shape)};
    const v1::GrantedLayout* choice = FindChoice(entry, question);
    const bool is_new = choice == nullptr && !question.device.empty() &&
                        asked_.emplace(question.job_id, shape.nodes).second;
    if (is_new) schedule_.layout_questions.push_back(std::move(question));
    return choice;
  }

  const std::string& DeviceFor(const GangShape& shape) {
    const auto key = std::make_pair(shape.kind, shape.slots_per_node);
    const auto found = devices_.find(key);
    if (found != devices_.end()) return found->second;
    return devices_[key] = DeviceForLayouts(state_, shape);
  }

  std::optional<FoundGang> FindAgain(const JobEntry& entry) {
    const GangRequest request = GangRequestOf(entry.job.spec());
    const v1::GrantedLayout* choice =
        request.auto_layout ? ChoiceFor(entry, request.Full()) : nullptr;
    if (request.auto_layout && (choice == nullptr || choice->nodes() == 0)) return std::nullopt;
    auto gang = pass_.PlaceAgain(entry, request.Full());
    if (!gang.has_value()) return std::nullopt;
    return FoundGang{*std::move(gang), choice};
  }

  std::optional<FoundGang> Find(const JobEntry& entry) {
    const GangRequest request = GangRequestOf(entry.job.spec());
    const v1::GrantedLayout* choice =
        request.auto_layout ? ChoiceFor(entry, request.Full()) : nullptr;
    if (request.auto_layout && (choice == nullptr || choice->nodes() == 0)) return std::nullopt;
    if (auto gang = pass_.Place(entry, request.Full())) {
      return FoundGang{*std::move(gang), choice};
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
    return FoundGang{*std::move(gang), choice};
  }

  // Returns true if the job has run before, and since then the cluster has become too small for it.
  bool LacksNodesSincePause(const JobEntry& entry, const GangRequest& request) const {
    return NewestAttempt(entry) != nullptr && !CheckShapeFits(state_, request.Full()).ok();
  }

  // Returns the gang of a recovering job with as many spare nodes as possible, but fewer than
  // requested. Training with fewer spares is better than waiting.
  std::optional<FoundGang> FindFewerSpares(const JobEntry& entry, const GangRequest& request,
                                           bool with_free) {
    GangShape shape = request.Full();
    while (--shape.nodes >= request.nodes) {
      auto gang = with_free ? pass_.Place(entry, shape) : pass_.PlaceAgain(entry, shape);
      if (gang.has_value()) return FoundGang{*std::move(gang), nullptr};
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
    return FoundGang{*std::move(gang), choice};
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
    Placement placement{
        .job_id = entry.job.id(), .attempt = NextAttempt(entry), .gang = found.gang};
    placement.master_address = state_.nodes.at(found.gang.front().node_id).node.address();
    const auto port =
        ports_.Find({entry.job.id(), placement.attempt}, 1,
                    before == nullptr ? 0 : before->master_port(), placement.master_address);
    if (!port.has_value()) return false;
    placement.master_port = *port;
    if (found.layout != nullptr) placement.layout = *found.layout;
    schedule_.placements.push_back(std::move(placement));
    return true;
  }

  const ClusterState& state_;
  RendezvousPorts& ports_;
  const Timestamp now_;
  PlacementPass pass_;
  // Jobs with a reservation, in queue order.
  JobQueue recovering_;
  // Jobs that this pass has already handled.
  std::set<int64_t> settled_;
  std::map<std::pair<v1::DeviceKind, int>, std::string> devices_;
  // Pairs of job and number of nodes for which the schedule already has a layout question.
  std::set<std::pair<int64_t, int>> asked_;
  Schedule schedule_;
};

}  // namespace

Schedule MakeSchedule(const ClusterState& state, RendezvousPorts& ports, NodeLimits limits,
                      Timestamp now) {
  return QueueWalk(state, ports, std::move(limits), now).Walk();
}

bool RequestsSlots(const JobEntry& entry, Timestamp now) {
  return IsDue(entry, now) && !HasNoLayout(entry);
}

}  // namespace trainyard::controller
