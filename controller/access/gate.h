// Decides whether a caller may use the controller. There is one token, and every caller who has the
// token is an operator (permissions.h). Browsers use a dashboard session instead of the token.
#ifndef TRAINYARD_CONTROLLER_ACCESS_GATE_H_
#define TRAINYARD_CONTROLLER_ACCESS_GATE_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "controller/access/session_store.h"
#include "controller/access/session_table.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Thread-safe. Only ReplaceToken, OpenSession, EndSessions, EndAllSessions and SaveSessions access
// the store of sessions.
class AccessGate {
 public:
  // If the token is empty, every caller is admitted. `clock` must outlive this object. Sessions are
  // loaded from `store` and stored there. Without a store, sessions end with this object.
  AccessGate(std::string token, const Clock& clock, std::unique_ptr<SessionStore> store = nullptr);

  bool open() const { return open_; }
  // Replaces the token and ends every session.
  void ReplaceToken(const std::string& token);

  // Returns true if the header is "Bearer TOKEN" with the current token. If the controller has no
  // token, accepts every header.
  bool TakesHeader(absl::string_view authorization) const;

  // Creates a code that opens one session for `owner`. The code expires after kCodeLifeMs.
  // RESOURCE_EXHAUSTED: there are too many unused codes.
  absl::StatusOr<std::string> MakeCode(Principal owner = {});
  // Opens a session and invalidates the code. Returns nullopt if the code is unknown or expired.
  std::optional<OpenedSession> OpenSession(absl::string_view code, absl::string_view address);

  // Returns the id of the session with this secret, or an empty string if there is none. Saves the
  // current time and `address` as the session's latest use. Sessions end when the token is
  // replaced.
  std::string UseSession(absl::string_view secret, absl::string_view address);
  bool SessionLives(absl::string_view id) const;
  // Returns the user who requested the session's login. Returns `claimed` if no session has this
  // id, or if the session has no user. INVALID_ARGUMENT: the user name is too long.
  absl::StatusOr<Principal> PrincipalOf(absl::string_view session_id,
                                        const std::string& claimed) const;
  v1::ListSessionsResponse ListSessions() const;

  // These functions return the number of ended sessions. EndSessions ends all given sessions or
  // none. NOT_FOUND: an id has no session; the message names the first such id. UNAVAILABLE: the
  // sessions are ended, but the change is not stored.
  absl::StatusOr<int> EndSessions(const std::vector<std::string>& ids);
  absl::StatusOr<int> EndAllSessions();

  // Stores the time and address of each session's latest use, if a time or an address changed.
  // Without this call, a restart could end sessions early. Logins and ends of sessions are stored
  // immediately and do not need this call.
  absl::Status SaveSessions();

  static constexpr int64_t kCodeLifeMs = 300'000;

 private:
  struct Code {
    Timestamp expires = 0;
    Principal owner;
  };

  void LoadSessions();
  absl::StatusOr<int> AfterEnd(absl::StatusOr<int> ended);

  const bool open_;
  const Clock& clock_;
  const std::unique_ptr<SessionStore> store_;
  // Held while sessions are stored, so that an old table never overwrites a newer table.
  std::mutex save_mutex_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string token_;
  // Identifies the token to which stored sessions are bound.
  std::string token_mark_;
  // Unused codes, keyed by their hash.
  std::map<std::string, Code, std::less<>> codes_;
  SessionTable sessions_;
  // True if the session table differs from the stored one.
  bool changed_ = false;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_GATE_H_
