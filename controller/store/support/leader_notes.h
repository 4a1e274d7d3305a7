// Small texts that the leader leaves in the database for standbys and for the next leader.
#ifndef TRAINYARD_CONTROLLER_STORE_SUPPORT_LEADER_NOTES_H_
#define TRAINYARD_CONTROLLER_STORE_SUPPORT_LEADER_NOTES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::controller {

// The HOST:PORT of the leader's HTTP server, for standbys. Valid during the term of its writer.
inline constexpr char kPageNote[] = "page";
// Any text: the leader of its writer's term has found that the log has lost no events.
inline constexpr char kConfirmedNote[] = "confirmed";
// The sessions of the dashboard, for the next leader.
inline constexpr char kSessionsNote[] = "sessions";
// Name of the note with the position of a hook: this prefix, followed by the name of the hook.
inline constexpr char kHookNote[] = "hook ";

// Thread-safe. A call takes a few round trips, and at most a few seconds.
class LeaderNotes {
 public:
  virtual ~LeaderNotes() = default;
  // Returns the text that any leader has written last. NOT_FOUND: there is none.
  virtual absl::StatusOr<std::string> Read(const std::string& name) = 0;
  // Replaces the text. ABORTED: this controller no longer leads, and nothing was written.
  virtual absl::Status Write(const std::string& name, const std::string& text) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SUPPORT_LEADER_NOTES_H_
