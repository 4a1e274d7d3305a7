#include "controller/core/state/nodes/node_reservations.h"

#include <algorithm>
#include <utility>

#include "proto/jobspec/fields/node_names.h"

namespace trainyard::controller {
namespace {

// The assumed run time of a job without a time limit.
constexpr int64_t kAssumedRunMs = int64_t{60} * 86'400'000;

}  // namespace

std::vector<const v1::NodeReservation*> ReservationsByStart(const ClusterState& state) {
  std::vector<const v1::NodeReservation*> reservations;
  for (const auto& [name, reservation] : state.node_reservations) {
    reservations.push_back(&reservation);
  }
  std::ranges::stable_sort(reservations, {}, [](const v1::NodeReservation* reservation) {
    return reservation->start_ms();
  });
  return reservations;
}

std::set<std::string> ReservedNames(const v1::NodeReservation& reservation) {
  // The names were checked when the reservation was created.
  const auto names = ExpandNodeLists(reservation.nodes());
  if (!names.ok()) return {};
  return {names->begin(), names->end()};
}

bool BelongsTo(const v1::NodeReservation& reservation, const JobClass& job_class) {
  if (!reservation.queue().empty()) return reservation.queue() == job_class.queue;
  return !reservation.user().empty() && reservation.user() == job_class.user;
}

Timestamp StartBeside(const v1::NodeReservation& reservation, const JobClass& job_class,
                      Timestamp from) {
  if (BelongsTo(reservation, job_class) || reservation.end_ms() <= from) return from;
  const int64_t run_ms = job_class.longest_hold_ms == 0
                             ? kAssumedRunMs
                             : std::min(job_class.longest_hold_ms, kAssumedRunMs);
  return from + run_ms <= reservation.start_ms() ? from : reservation.end_ms();
}

ReservedNodes::ReservedNodes(const ClusterState& state, Timestamp now) : now_(now) {
  if (state.node_reservations.empty()) return;
  std::map<std::string, std::vector<std::string>> ids;
  for (const auto& [id, entry] : state.nodes) ids[entry.node.name()].push_back(id);
  for (const v1::NodeReservation* reservation : ReservationsByStart(state)) {
    if (reservation->end_ms() <= now) continue;
    reservations_.push_back(reservation);
    for (const std::string& name : ReservedNames(*reservation)) {
      const auto found = ids.find(name);
      if (found == ids.end()) continue;
      for (const std::string& id : found->second) by_node_[id].push_back(reservation);
    }
  }
}

const std::set<std::string>* ReservedNodes::ClosedFor(const JobClass& job_class) const {
  Reservations closing;
  for (const v1::NodeReservation* reservation : reservations_) {
    if (StartBeside(*reservation, job_class, now_) > now_) closing.push_back(reservation);
  }
  if (closing.empty()) return nullptr;
  const auto [found, is_new] = closed_.try_emplace(closing);
  if (!is_new) return &found->second;
  for (const auto& [id, reservations] : by_node_) {
    const bool is_closed = std::ranges::any_of(reservations, [&](const auto* reservation) {
      return std::ranges::count(closing, reservation) > 0;
    });
    if (is_closed) found->second.insert(found->second.end(), id);
  }
  return &found->second;
}

Timestamp ReservedNodes::StartOn(const std::string& node_id, const JobClass& job_class,
                                 Timestamp from) const {
  for (const v1::NodeReservation* reservation : On(node_id)) {
    from = StartBeside(*reservation, job_class, from);
  }
  return from;
}

std::vector<const v1::NodeReservation*> ReservedNodes::On(const std::string& node_id) const {
  const auto found = by_node_.find(node_id);
  return found == by_node_.end() ? Reservations() : found->second;
}

}  // namespace trainyard::controller
