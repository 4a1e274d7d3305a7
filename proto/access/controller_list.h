// The addresses of the controllers of one cluster. One of the controllers leads and serves all
// callers; the others are standbys. Callers try the addresses in turn until they reach the leader.
#ifndef TRAINYARD_PROTO_ACCESS_CONTROLLER_LIST_H_
#define TRAINYARD_PROTO_ACCESS_CONTROLLER_LIST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainyard {

// Splits "HOST:PORT,HOST:PORT". Does not check the addresses themselves. INVALID_ARGUMENT: an
// address is empty or listed twice, or there are too many.
absl::StatusOr<std::vector<std::string>> SplitControllers(absl::string_view text);

// The turns of a caller among the controllers. Not thread-safe.
class ControllerList {
 public:
  // `addresses` must not be empty.
  explicit ControllerList(std::vector<std::string> addresses) : addresses_(std::move(addresses)) {}

  const std::string& current() const { return addresses_[current_]; }
  bool HasSeveral() const { return addresses_.size() > 1; }
  const std::vector<std::string>& all() const { return addresses_; }

  // Selects the next address after the current one has failed. Returns true if all addresses have
  // failed since the last success or the last such return; the caller should pause then.
  bool Advance();
  // Call after the current controller has accepted the caller as the leader.
  void Succeeded() { failed_ = 0; }

 private:
  std::vector<std::string> addresses_;
  std::size_t current_ = 0;
  std::size_t failed_ = 0;  // Addresses that have failed in this round.
};

// Returns UNAVAILABLE: the controller at `address` is a standby. `leader` is the address of the
// leader; empty if no controller leads.
absl::Status StandbyError(const std::string& address, const std::string& leader);
// Returns the leader named by StandbyError. Returns nullopt for any other status.
std::optional<std::string> LeaderNamedBy(const absl::Status& status);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_CONTROLLER_LIST_H_
