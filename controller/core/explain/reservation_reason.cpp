#include "controller/core/explain/reservation_reason.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/state/nodes/node_reservations.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/support/text.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// Reservations that keep a job from nodes with enough free slots, and these nodes.
struct Obstacle {
  std::vector<std::string> nodes;  // Names.
  std::set<const v1::NodeReservation*> reservations;
};

Obstacle ObstacleOf(const ClusterState& state, const JobEntry& entry, const GangShape& shape,
                    Timestamp now) {
  Obstacle obstacle;
  const ReservedNodes reserved(state, now);
  if (reserved.empty()) return obstacle;
  const JobClass job_class = ClassOf(entry.job);
  const std::set<std::string>* closed = reserved.ClosedFor(job_class);
  if (closed == nullptr) return obstacle;
  for (const std::string& id : *closed) {
    const v1::Node& node = state.nodes.at(id).node;
    const bool has_slots = TakesRanks(node) && FreeSlots(node, shape.kind) >= shape.slots_per_node;
    if (!has_slots || !MayUse(entry.job.spec(), node)) continue;
    obstacle.nodes.push_back(node.name());
    for (const v1::NodeReservation* reservation : reserved.On(id)) {
      if (StartBeside(*reservation, job_class, now) == now) continue;
      obstacle.reservations.insert(reservation);
    }
  }
  return obstacle;
}

std::string TimesText(const v1::NodeReservation& reservation, Timestamp now) {
  const std::string end = absl::StrCat("ends in ", DurationText(reservation.end_ms() - now));
  if (reservation.start_ms() <= now) return end;
  return absl::StrCat("begins in ", DurationText(reservation.start_ms() - now), ", ", end);
}

}  // namespace

std::string ReservationText(const ClusterState& state, const JobEntry& entry,
                            const GangShape& shape, Timestamp now) {
  constexpr std::size_t kNamed = 3;
  const Obstacle obstacle = ObstacleOf(state, entry, shape, now);
  if (obstacle.nodes.empty()) return "";
  std::vector<std::string> texts;
  for (const v1::NodeReservation* reservation : ReservationsByStart(state)) {
    if (!obstacle.reservations.contains(reservation) || texts.size() == kNamed) continue;
    texts.push_back(absl::StrCat(reservation->name(), ", ", TimesText(*reservation, now)));
  }
  const std::vector<std::string>& nodes = obstacle.nodes;
  const std::string names = nodes.size() <= kNamed
                                ? absl::StrJoin(nodes, ", ")
                                : Counted(static_cast<int64_t>(nodes.size()), "other node");
  const bool is_one = nodes.size() == 1;
  return absl::StrCat("; ", names, is_one ? " has" : " have", " enough free slots, but ",
                      is_one ? "is" : "are", " reserved (", absl::StrJoin(texts, "; "), ")");
}

std::string ReservationAdvice(const ClusterState& state, const JobEntry& entry,
                              const GangShape& shape, Timestamp now) {
  if (entry.job.spec().has_time_limit()) return "";
  const Obstacle obstacle = ObstacleOf(state, entry, shape, now);
  for (const v1::NodeReservation* reservation : ReservationsByStart(state)) {
    if (!obstacle.reservations.contains(reservation) || reservation->start_ms() <= now) continue;
    return absl::StrCat(
        "without a `time_limit`, the job could run beyond the start of the reservation ",
        reservation->name(), "; set a `time_limit` that ends before it begins");
  }
  return "";
}

}  // namespace trainyard::controller
