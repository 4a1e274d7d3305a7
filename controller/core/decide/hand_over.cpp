#include "controller/core/decide/hand_over.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "proto/contract/limits.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr char kStartOne[] =
    "start another controller on the same database, and check it with `trainyard server status`";

std::vector<StandbyReport> ReadyStandbys(const ControllerGroup& group) {
  std::vector<StandbyReport> ready;
  std::ranges::copy_if(group.standbys, std::back_inserter(ready), [&](const StandbyReport& one) {
    return one.is_ready && one.address != group.leader;
  });
  return ready;
}

// Returns, for example, "ready standbys: 10.0.0.2:7070, 10.0.0.3:7070".
std::string ReadyText(const std::vector<StandbyReport>& ready) {
  if (ready.empty()) return absl::StrCat("no standby is ready; ", kStartOne);
  return absl::StrCat("ready standbys: ",
                      absl::StrJoin(ready, ", ", [](std::string* text, const StandbyReport& one) {
                        absl::StrAppend(text, one.address);
                      }));
}

absl::Status NotReady(const ControllerGroup& group, const std::string& to,
                      const std::vector<StandbyReport>& ready) {
  const auto late = std::ranges::find(group.standbys, to, &StandbyReport::address);
  if (late == group.standbys.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat(to, " is not a standby of this cluster; ", ReadyText(ready)));
  }
  return absl::FailedPreconditionError(absl::StrCat("the standby ", to, " has not reported for ",
                                                    late->reported_ms / 1000, " s; ",
                                                    ReadyText(ready)));
}

}  // namespace

absl::StatusOr<std::string> ChooseSuccessor(const ControllerGroup& group,
                                            const v1::HandOverRequest& request) {
  TRAINYARD_RETURN_IF_ERROR(CheckLength("to", request.to(), kMaxReasonBytes));
  TRAINYARD_RETURN_IF_ERROR(CheckLength("from", request.from(), kMaxReasonBytes));
  if (!group.can_have_standbys) {
    return absl::FailedPreconditionError(
        "this controller has its store in files, so no other controller can lead; several "
        "controllers need a PostgreSQL database (`trainyard server migrate --to postgres`)");
  }
  if (!request.from().empty() && request.from() != group.leader) {
    return absl::FailedPreconditionError(
        absl::StrCat("the controller at ", group.leader, " leads, and not ", request.from()));
  }
  if (request.to() == group.leader) {
    return absl::FailedPreconditionError(
        absl::StrCat("the controller at ", group.leader, " leads already"));
  }
  const std::vector<StandbyReport> ready = ReadyStandbys(group);
  if (!request.to().empty()) {
    const bool is_ready =
        std::ranges::find(ready, request.to(), &StandbyReport::address) != ready.end();
    if (is_ready) return request.to();
    return NotReady(group, request.to(), ready);
  }
  if (ready.empty()) return absl::FailedPreconditionError(ReadyText(ready));
  // The standby that has applied the most events takes over fastest.
  const auto newest = std::ranges::max_element(ready, {}, &StandbyReport::position);
  return newest->address;
}

std::vector<v1::Event> DecideHandOver(const RecordHandOver& request, Timestamp now) {
  v1::Event event = EventBy(request.principal, now);
  event.mutable_leadership_handed_over()->set_from(request.from);
  event.mutable_leadership_handed_over()->set_to(request.to);
  std::vector<v1::Event> events;
  events.push_back(std::move(event));
  return events;
}

}  // namespace trainyard::controller
