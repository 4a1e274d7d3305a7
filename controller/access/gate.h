// The one place that says whether a caller may come in. Today there is one token, and whoever has
// it may do everything; accounts and roles belong here later.
#ifndef TRAINYARD_CONTROLLER_ACCESS_GATE_H_
#define TRAINYARD_CONTROLLER_ACCESS_GATE_H_

#include <map>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Name of the dashboard's cookie.
inline constexpr char kSessionCookie[] = "trainyard_session";

// Thread-safe.
class AccessGate {
 public:
  // An empty token lets everybody in. `clock` outlives this.
  AccessGate(std::string token, const Clock& clock) : token_(std::move(token)), clock_(clock) {}

  bool open() const { return token_.empty(); }

  // True for the header "Bearer TOKEN" with the right token, or when the gate is open.
  bool TakesHeader(absl::string_view authorization) const;
  // True when a Cookie header holds a session that MakeSession made and that has not expired. A
  // session survives a restart of the controller, and ends with the token.
  bool TakesCookie(absl::string_view cookies) const;

  // A code that opens one session within kCodeLifeMs. RESOURCE_EXHAUSTED: too many are open.
  absl::StatusOr<std::string> MakeCode();
  // The value of a session's cookie for the code, which is used up; empty for another text.
  std::string MakeSession(absl::string_view code);

  static constexpr int64_t kCodeLifeMs = 300'000;
  static constexpr int64_t kSessionLifeMs = 30 * 86'400'000LL;

 private:
  std::string Signed(int64_t expires_ms, absl::string_view nonce) const;

  const std::string token_;
  const Clock& clock_;
  std::mutex mutex_;
  // Hash of each open code -> its end; guarded by mutex_.
  std::map<std::string, Timestamp, std::less<>> codes_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_GATE_H_
