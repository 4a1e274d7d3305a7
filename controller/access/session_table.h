// Dashboard sessions: the logged-in users and the expiry of each login. Secrets are stored as
// hashes.
#ifndef TRAINYARD_CONTROLLER_ACCESS_SESSION_TABLE_H_
#define TRAINYARD_CONTROLLER_ACCESS_SESSION_TABLE_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"
#include "trainyard/v1/access_service.pb.h"

namespace trainyard::controller {

struct OpenedSession {
  std::string id;
  // The secret grants access to the controller. The session table stores only its hash.
  std::string secret;
};

// Not thread-safe. Does no I/O.
class SessionTable {
 public:
  // A session ends kIdleMs after its latest use, and at the latest kMaxMs after its login.
  static constexpr int64_t kIdleMs = 12 * 3'600'000LL;
  static constexpr int64_t kMaxMs = 7 * 86'400'000LL;
  // The maximum number of sessions. One more login ends the least recently used session.
  static constexpr std::size_t kMost = 256;

  // `owner`: the user who requested the login.
  OpenedSession Open(const Principal& owner, absl::string_view address, Timestamp now);

  // Returns the id of the session with this secret, or an empty string if there is none. Saves
  // `now` and `address` as the session's latest use.
  std::string Use(absl::string_view secret, absl::string_view address, Timestamp now);
  bool Lives(absl::string_view id, Timestamp now) const;
  // Returns the user who requested the session's login. The name is empty if there is no such
  // session.
  Principal OwnerOf(absl::string_view id) const;
  // Newest login first.
  std::vector<v1::Session> List(Timestamp now) const;

  // Returns the number of ended sessions. NOT_FOUND: an id has no session (the message names the
  // first such id), and no session is ended.
  absl::StatusOr<int> End(const std::vector<std::string>& ids, Timestamp now);
  int EndAll(Timestamp now);

  // Returns the table as JSON text, with hashes instead of secrets. `token_mark` binds the text to
  // the controller's token.
  std::string Text(absl::string_view token_mark, Timestamp now) const;
  // Replaces the table with the table in `text`, a result of Text(). If the text is bound to
  // another token, the table becomes empty. DATA_LOSS: the text is damaged.
  absl::Status Read(absl::string_view text, absl::string_view token_mark, Timestamp now);

 private:
  void DropExpired(Timestamp now);
  void DropLeastUsed();

  // Keyed by the hash of the secret.
  std::map<std::string, v1::Session, std::less<>> sessions_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_SESSION_TABLE_H_
