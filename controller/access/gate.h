// Decides whether a caller may use the controller. There is one token, and whoever has it is an
// operator (permissions.h); accounts would be added here. In browsers, dashboard sessions replace
// the token.
#ifndef TRAINYARD_CONTROLLER_ACCESS_GATE_H_
#define TRAINYARD_CONTROLLER_ACCESS_GATE_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "controller/access/session_table.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Name of the session file in a controller's data directory.
inline constexpr char kSessionFileName[] = "sessions.json";

// Thread-safe. Only ReplaceToken, OpenSession, EndSessions, EndAllSessions and SaveSessions wait
// for a disk.
class AccessGate {
 public:
  // An empty token admits everyone. `clock` must outlive this object. Sessions are loaded from and
  // stored in `session_file`; if it is empty, they end with this object.
  AccessGate(std::string token, const Clock& clock, std::string session_file = "");

  bool open() const { return open_; }
  // Replaces the token. Every session ends.
  void ReplaceToken(const std::string& token);

  // True for the header "Bearer TOKEN" with the right token, or if the gate is open.
  bool TakesHeader(absl::string_view authorization) const;

  // A code that opens one session of this user within kCodeLifeMs. RESOURCE_EXHAUSTED: too many
  // open codes.
  absl::StatusOr<std::string> MakeCode(Principal owner = {});
  // Uses up the code and opens a session. nullopt for an unknown or expired code.
  std::optional<OpenedSession> OpenSession(absl::string_view code, absl::string_view address);

  // Id of the session with this secret; empty if there is none. Marks the session as used now from
  // `address`. Sessions end when the token is replaced.
  std::string UseSession(absl::string_view secret, absl::string_view address);
  bool SessionLives(absl::string_view id) const;
  // The user who requested the session's login, or `claimed` if there is no such session or it
  // names no user. INVALID_ARGUMENT: the user name is too long.
  absl::StatusOr<Principal> PrincipalOf(absl::string_view session_id,
                                        const std::string& claimed) const;
  v1::ListSessionsResponse ListSessions() const;

  // Return the number of ended sessions. NOT_FOUND names the first id without a session; no session
  // is ended then. UNAVAILABLE: the sessions ended, but the change is not stored.
  absl::StatusOr<int> EndSessions(const std::vector<std::string>& ids);
  absl::StatusOr<int> EndAllSessions();

  // Stores the latest uses of sessions, if there are new ones, so that a restart does not shorten
  // sessions. Logins and ends are stored immediately.
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
  const std::string session_file_;
  // Held while the file is written, so that the newest table is written last.
  std::mutex save_mutex_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string token_;
  // Binds stored sessions to the token.
  std::string token_mark_;
  // Open codes, by hash.
  std::map<std::string, Code, std::less<>> codes_;
  SessionTable sessions_;
  // True if the table differs from the file.
  bool changed_ = false;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_GATE_H_
