#include "controller/core/decide/reservation_requests.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/nodes/node_reservations.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/support/controller_event.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "google/protobuf/util/message_differencer.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/fields/node_names.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

absl::Status CheckTexts(const ClusterState& state, const v1::NodeReservation& reservation) {
  static const RE2 kName("[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?");
  if (!RE2::FullMatch(reservation.name(), kName)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the name `", std::string(Utf8Prefix(reservation.name(), 80)),
                     "` of a reservation is not valid; use lower-case letters, digits, `.`, `_` "
                     "and `-`, at most "
                     "63 characters"));
  }
  TRAINYARD_RETURN_IF_ERROR(
      CheckLength("reason of a reservation", reservation.reason(), kMaxReasonBytes));
  TRAINYARD_RETURN_IF_ERROR(
      CheckLength("user of a reservation", reservation.user(), kMaxUserBytes));
  if (!reservation.queue().empty() && !reservation.user().empty()) {
    return absl::InvalidArgumentError(
        "a reservation is for a queue or for a user; set only one of them");
  }
  if (reservation.queue().empty()) return absl::OkStatus();
  return CheckQueueExists(state, reservation.queue());
}

absl::Status CheckTimes(const v1::NodeReservation& reservation, Timestamp now) {
  const Timestamp start = reservation.start_ms(), end = reservation.end_ms();
  if (start <= 0 || end <= start) {
    return absl::InvalidArgumentError(
        "the reservation must end after its start; choose another start or a longer time");
  }
  if (end <= now) {
    return absl::InvalidArgumentError(
        "the reservation would end in the past; choose a later start or a longer time");
  }
  if (end - now > kLongestReservationMs) {
    return absl::InvalidArgumentError(
        "the reservation would end more than 10 years from now; choose an earlier start or a "
        "shorter time");
  }
  return absl::OkStatus();
}

absl::Status CheckNodes(const ClusterState& state, const std::vector<std::string>& names) {
  if (names.empty()) {
    return absl::InvalidArgumentError("a reservation needs at least one node, such as gpu[01-04]");
  }
  constexpr std::size_t kNamed = 5;
  std::set<std::string> unknown(names.begin(), names.end());
  for (const auto& [id, entry] : state.nodes) unknown.erase(entry.node.name());
  if (!unknown.empty()) {
    const bool is_cut = unknown.size() > kNamed;
    const auto end = is_cut ? std::next(unknown.begin(), kNamed) : unknown.end();
    return absl::NotFoundError(absl::StrCat(
        "no node is called ", absl::StrJoin(unknown.begin(), end, ", "),
        is_cut ? absl::StrCat(" or ", unknown.size() - kNamed, " other names of the reservation")
               : "",
        "; `trainyard nodes` lists the nodes"));
  }
  std::size_t reserved = std::set<std::string>(names.begin(), names.end()).size();
  for (const auto& [name, other] : state.node_reservations) reserved += ReservedNames(other).size();
  if (state.node_reservations.size() < kMaxReservations && reserved <= kMaxReservedNames) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "there are ", Counted(static_cast<int64_t>(state.node_reservations.size()), "reservation"),
      "; at most ", kMaxReservations, " with ", kMaxReservedNames,
      " nodes together are allowed; delete some (trainyard reservation delete)"));
}

// Checks that no node has two reservations at the same time.
absl::Status CheckOverlap(const ClusterState& state, const v1::NodeReservation& reservation) {
  const std::set<std::string> names = ReservedNames(reservation);
  for (const auto& [name, other] : state.node_reservations) {
    const bool meets =
        other.start_ms() < reservation.end_ms() && reservation.start_ms() < other.end_ms();
    if (!meets) continue;
    for (const std::string& node : ReservedNames(other)) {
      if (!names.contains(node)) continue;
      return absl::FailedPreconditionError(
          absl::StrCat(node, " is reserved by ", name,
                       " in this time; choose other nodes or another time, or delete ", name,
                       " (trainyard reservation delete ", name, ")"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<v1::Event>> DecideCreateReservation(
    const ClusterState& state, const v1::CreateReservationRequest& request,
    const Principal& principal, Timestamp now) {
  const v1::NodeReservation& reservation = request.reservation();
  const auto known = state.node_reservations.find(reservation.name());
  if (known != state.node_reservations.end()) {
    if (google::protobuf::util::MessageDifferencer::Equals(known->second, reservation)) {
      return std::vector<v1::Event>();
    }
    return absl::AlreadyExistsError(absl::StrCat("a reservation is called ", reservation.name(),
                                                 "; delete it (trainyard reservation delete ",
                                                 reservation.name(), ") or choose another name"));
  }
  TRAINYARD_RETURN_IF_ERROR(CheckTexts(state, reservation));
  TRAINYARD_RETURN_IF_ERROR(CheckTimes(reservation, now));
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                             ExpandNodeLists(reservation.nodes()));
  TRAINYARD_RETURN_IF_ERROR(CheckNodes(state, names));
  TRAINYARD_RETURN_IF_ERROR(CheckOverlap(state, reservation));
  v1::Event event = EventBy(principal, now);
  *event.mutable_nodes_reserved()->mutable_reservation() = reservation;
  return std::vector<v1::Event>{std::move(event)};
}

absl::StatusOr<std::vector<v1::Event>> DecideDeleteReservation(
    const ClusterState& state, const v1::DeleteReservationRequest& request,
    const Principal& principal, Timestamp now) {
  if (!state.node_reservations.contains(request.name())) {
    return absl::NotFoundError(absl::StrCat("no reservation is called `",
                                            std::string(Utf8Prefix(request.name(), 80)),
                                            "`; `trainyard reservation list` lists them"));
  }
  v1::Event event = EventBy(principal, now);
  event.mutable_reservation_ended()->set_name(request.name());
  return std::vector<v1::Event>{std::move(event)};
}

std::vector<v1::Event> ReservationEndsDue(const ClusterState& state, Timestamp now) {
  std::vector<v1::Event> events;
  for (const auto& [name, reservation] : state.node_reservations) {
    if (reservation.end_ms() > now) continue;
    events.emplace_back(ControllerEvent(now)).mutable_reservation_ended()->set_name(name);
  }
  return events;
}

std::vector<std::string> JobsInTheWay(const ClusterState& state,
                                      const v1::NodeReservation& reservation, Timestamp now,
                                      std::size_t most) {
  std::vector<std::string> sentences;
  const std::set<std::string> names = ReservedNames(reservation);
  for (const int64_t job_id : state.live_jobs) {
    const JobEntry& entry = state.jobs.at(job_id);
    if (sentences.size() == most) break;
    if (BelongsTo(reservation, ClassOf(entry.job))) continue;
    const auto rest = RemainingTime(entry.job, now);
    if (rest.has_value() && now + *rest <= reservation.start_ms()) continue;
    for (const std::string& node_id : GangNodes(*LiveAttempt(entry))) {
      const std::string node = NodeName(state, node_id);
      if (!names.contains(node)) continue;
      sentences.push_back(absl::StrCat(JobText(entry.job), " runs on ", node,
                                       reservation.drain() ? " and will leave it at the start"
                                                           : " and may run beyond the start"));
      break;
    }
  }
  return sentences;
}

}  // namespace trainyard::controller
