#include "proto/access/controller_list.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace trainyard {
namespace {

constexpr std::size_t kMaxControllers = 16;
constexpr char kLeaderPayload[] = "trainyard/leader";

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitControllers(absl::string_view text) {
  std::vector<std::string> addresses;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    std::string address(absl::StripAsciiWhitespace(part));
    if (address.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the list of controllers `", text, "` has an empty address; write HOST:PORT,HOST:PORT"));
    }
    if (std::find(addresses.begin(), addresses.end(), address) != addresses.end()) {
      return absl::InvalidArgumentError(absl::StrCat("the list of controllers `", text, "` has ",
                                                     address, " twice; list each controller once"));
    }
    addresses.push_back(std::move(address));
  }
  if (addresses.size() <= kMaxControllers) return addresses;
  return absl::InvalidArgumentError(absl::StrCat("the list of controllers has ", addresses.size(),
                                                 " addresses; list at most ", kMaxControllers));
}

bool ControllerList::Advance() {
  current_ = (current_ + 1) % addresses_.size();
  if (++failed_ < addresses_.size()) return false;
  failed_ = 0;
  return true;
}

absl::Status StandbyError(const std::string& address, const std::string& leader) {
  absl::Status status = absl::UnavailableError(
      leader.empty()
          ? absl::StrCat("the controller at ", address, " is a standby, and no controller leads")
          : absl::StrCat("the controller at ", address, " is a standby; the controller at ", leader,
                         " leads"));
  status.SetPayload(kLeaderPayload, absl::Cord(leader));
  return status;
}

std::optional<std::string> LeaderNamedBy(const absl::Status& status) {
  const absl::optional<absl::Cord> leader = status.GetPayload(kLeaderPayload);
  if (!leader.has_value()) return std::nullopt;
  return std::string(*leader);
}

}  // namespace trainyard
