// Stores the position of each hook: the number of the last event that the hook handled. The next
// run of the controller, or the next leader, continues after this event.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_POSITIONS_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_POSITIONS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/support/leader_notes.h"

namespace trainyard::controller {

struct Stores;

// Used by one thread at a time.
class HookPositions {
 public:
  virtual ~HookPositions() = default;
  // Returns the text of the last Write. NOT_FOUND: nothing was written yet.
  virtual absl::StatusOr<std::string> Read(const std::string& hook) = 0;
  // Replaces the text. If this returns OK, the text is durable.
  virtual absl::Status Write(const std::string& hook, const std::string& text) = 0;
};

// One file per hook.
class FileHookPositions final : public HookPositions {
 public:
  // Write creates the directory.
  explicit FileHookPositions(std::string directory) : directory_(std::move(directory)) {}

  absl::StatusOr<std::string> Read(const std::string& hook) override;
  absl::Status Write(const std::string& hook, const std::string& text) override;
  // Removes the file of the hook if it exists.
  void Remove(const std::string& hook) const;

 private:
  std::string PathOf(const std::string& hook) const;

  const std::string directory_;
};

// One leader's note per hook, so that the next leader continues after the last stored event.
class NoteHookPositions final : public HookPositions {
 public:
  // If a hook has no note, Read returns the text of its file in `directory`, for example after a
  // move from SQLite to PostgreSQL. The first Write removes the file, because after a move back an
  // old file would make the hook repeat events. `notes` must outlive this object.
  NoteHookPositions(LeaderNotes& notes, std::string directory)
      : notes_(notes), files_(std::move(directory)) {}

  absl::StatusOr<std::string> Read(const std::string& hook) override;
  absl::Status Write(const std::string& hook, const std::string& text) override;

 private:
  LeaderNotes& notes_;
  FileHookPositions files_;
};

// Returns positions in the leader's notes, or in files of the data directory; null for stores in
// memory. `stores` must outlive the result.
std::unique_ptr<HookPositions> HookPositionsOf(const Stores& stores);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_POSITIONS_H_
