// Dashboard sessions among the leader's notes, so that a login remains valid under the next leader.
#ifndef TRAINYARD_CONTROLLER_STORAGE_SHARED_SESSIONS_H_
#define TRAINYARD_CONTROLLER_STORAGE_SHARED_SESSIONS_H_

#include <memory>
#include <string>

#include "controller/access/session_store.h"
#include "controller/store/stores.h"
#include "controller/store/support/leader_notes.h"

namespace trainyard::controller {

class SharedSessions final : public SessionStore {
 public:
  // `notes` must outlive this object.
  explicit SharedSessions(LeaderNotes& notes) : notes_(notes) {}

  absl::StatusOr<std::string> Read() override { return notes_.Read(kSessionsNote); }
  absl::Status Write(const std::string& text) override { return notes_.Write(kSessionsNote, text); }
  std::string Name() const override { return "the database"; }

 private:
  LeaderNotes& notes_;
};

// Returns the place of the sessions: the leader's notes, a file in the data directory, or null for
// stores in memory.
std::unique_ptr<SessionStore> SessionStoreOf(const Stores& stores);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORAGE_SHARED_SESSIONS_H_
