#include "controller/cluster_member.h"

#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/cluster_id.h"
#include "controller/election.h"
#include "controller/loop/log_follower.h"
#include "controller/store/stores.h"
#include "controller/store_opening.h"
#include "proto/access/address.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// Returns the address by which others name this controller.
std::string AdvertisedAddress(const ControllerOptions& options) {
  if (!options.advertise.empty()) return options.advertise;
  const auto parts = SplitAddress(options.listen);
  const bool listens_on_all =
      parts.has_value() && (parts->host == "0.0.0.0" || parts->host == "::");
  if (!listens_on_all) return options.listen;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return absl::StrCat(host.data(), ":", parts->port);
}

}  // namespace

absl::StatusOr<ClusterMember> StartMember(const ControllerOptions& options, const Clock& clock,
                                          MemberHooks hooks) {
  ControllerOptions resolved = options;
  resolved.advertise = AdvertisedAddress(options);
  const PostgresStoreOptions stores{.settings = options.postgres,
                                    .data_directory = options.data_dir,
                                    .new_cluster_id = NewClusterId(),
                                    .holder = resolved.advertise,
                                    .version = TRAINYARD_VERSION};
  SeatOpening opening(stores);
  LogFollower follower([&stores] { return OpenLogTail(stores); }, clock);
  const ElectionHooks election{
      .open_seat = [&opening] { return opening.Open(); },
      .stop_requested = std::move(hooks.stop_requested),
      .position = [&follower] { return follower.position(); },
      .problem = [&follower] { return follower.Problem(); },
      .on_standby = [&follower](const std::string&, const std::string&) { follower.Start(); }};
  TRAINYARD_ASSIGN_OR_RETURN(auto seat, WaitToLead(election, clock, resolved));
  ClusterMember member;
  if (seat == nullptr) return member;
  resolved.loop.core.leader_term = seat->term();
  // Submissions need not wait for the marks of workers.
  if (seat->ContinuesLog()) resolved.loop.core.confirm_log_ms = 0;
  spdlog::info("this controller leads term {}", seat->term());
  // Renew from now on, because opening the stores may take longer than the leadership lasts without
  // a renewal.
  member.guard = std::make_unique<LeaderGuard>(std::move(seat), ExitWithoutLeadership,
                                               std::move(hooks.on_hand_over));
  resolved.hand_over = member.guard.get();
  resolved.replayed = follower.Take();
  resolved.before_answer = [guard = member.guard.get()] { guard->CheckMayAnswer(); };
  resolved.on_higher_term = [guard = member.guard.get()](int64_t term) {
    guard->HigherTermSeen(term);
  };
  TRAINYARD_ASSIGN_OR_RETURN(member.controller, Controller::Start(resolved, clock));
  return member;
}

}  // namespace trainyard::controller
