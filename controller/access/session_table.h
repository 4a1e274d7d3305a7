// Sessions of the dashboard: who is logged in, and until when. Secrets are kept as hashes.
#ifndef TRAINYARD_CONTROLLER_ACCESS_SESSION_TABLE_H_
#define TRAINYARD_CONTROLLER_ACCESS_SESSION_TABLE_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "controller/access/caller.h"
#include "proto/support/clock.h"
#include "trainyard/v1/access_service.pb.h"

namespace trainyard::controller {

struct OpenedSession {
  std::string id;
  // Opens the controller. The only copy.
  std::string secret;
};

// Not thread-safe; no I/O.
class SessionTable {
 public:
  // A session ends when it was not used for kIdleMs, and kMaxMs after its login.
  static constexpr int64_t kIdleMs = 12 * 3'600'000LL;
  static constexpr int64_t kMaxMs = 7 * 86'400'000LL;
  // Beyond this number a login ends the session that was not used for the longest time.
  static constexpr std::size_t kMost = 256;

  // `owner`: the user who asked for the login.
  OpenedSession Open(const Caller& owner, absl::string_view address, Timestamp now);

  // Id of the session with this secret, which counts as used now from `address`; empty when there
  // is none.
  std::string Use(absl::string_view secret, absl::string_view address, Timestamp now);
  bool Lives(absl::string_view id, Timestamp now) const;
  // The user who asked for the session's login; no name when there is no such session.
  Caller OwnerOf(absl::string_view id) const;
  // Newest login first.
  std::vector<v1::Session> List(Timestamp now) const;

  // Returns the number of ended sessions. NOT_FOUND names the first id without a session; nothing
  // is ended then.
  absl::StatusOr<int> End(const std::vector<std::string>& ids, Timestamp now);
  int EndAll(Timestamp now);

  // The table as JSON text without secrets. `token_mark` ties it to the controller's token.
  std::string Text(absl::string_view token_mark, Timestamp now) const;
  // Replaces the table by a text of Text(). It stays empty when the text belongs to another token.
  // DATA_LOSS: the text is damaged.
  absl::Status Read(absl::string_view text, absl::string_view token_mark, Timestamp now);

 private:
  void DropExpired(Timestamp now);
  void DropLeastUsed();

  // By the hash of the secret.
  std::map<std::string, v1::Session, std::less<>> sessions_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_SESSION_TABLE_H_
