// Dashboard sessions: who is logged in, and until when. Secrets are stored as hashes.
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
  // Grants access to the controller. This is the only copy.
  std::string secret;
};

// Not thread-safe. No I/O.
class SessionTable {
 public:
  // A session ends after kIdleMs without use, and kMaxMs after its login.
  static constexpr int64_t kIdleMs = 12 * 3'600'000LL;
  static constexpr int64_t kMaxMs = 7 * 86'400'000LL;
  // Maximum number of sessions. A further login ends the least recently used session.
  static constexpr std::size_t kMost = 256;

  // `owner`: the user who requested the login.
  OpenedSession Open(const Principal& owner, absl::string_view address, Timestamp now);

  // Id of the session with this secret; empty if there is none. Marks the session as used now from
  // `address`.
  std::string Use(absl::string_view secret, absl::string_view address, Timestamp now);
  bool Lives(absl::string_view id, Timestamp now) const;
  // The user who requested the session's login; an empty name if there is no such session.
  Principal OwnerOf(absl::string_view id) const;
  // Newest login first.
  std::vector<v1::Session> List(Timestamp now) const;

  // Returns the number of ended sessions. NOT_FOUND names the first id without a session; no
  // session is ended then.
  absl::StatusOr<int> End(const std::vector<std::string>& ids, Timestamp now);
  int EndAll(Timestamp now);

  // The table as JSON text, with hashes instead of secrets. `token_mark` binds it to the
  // controller's token.
  std::string Text(absl::string_view token_mark, Timestamp now) const;
  // Replaces the table with the result of Text(). The table stays empty if the text belongs to
  // another token. DATA_LOSS: the text is damaged.
  absl::Status Read(absl::string_view text, absl::string_view token_mark, Timestamp now);

 private:
  void DropExpired(Timestamp now);
  void DropLeastUsed();

  // By hash of the secret.
  std::map<std::string, v1::Session, std::less<>> sessions_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_SESSION_TABLE_H_
