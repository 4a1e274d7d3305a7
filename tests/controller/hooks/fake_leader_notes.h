// Leader's notes in memory. Reads and writes fail on request.
#ifndef TRAINYARD_TESTS_CONTROLLER_HOOKS_FAKE_LEADER_NOTES_H_
#define TRAINYARD_TESTS_CONTROLLER_HOOKS_FAKE_LEADER_NOTES_H_

#include <map>
#include <mutex>
#include <string>

#include "controller/store/support/leader_notes.h"

namespace trainyard::controller {

class FakeLeaderNotes final : public LeaderNotes {
 public:
  absl::StatusOr<std::string> Read(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    if (!read_status_.ok()) return read_status_;
    const auto found = texts_.find(name);
    if (found == texts_.end()) return absl::NotFoundError("no leader has written " + name);
    return found->second;
  }
  absl::Status Write(const std::string& name, const std::string& text) override {
    const std::lock_guard lock(mutex_);
    ++writes_;
    if (write_status_.ok()) texts_[name] = text;
    return write_status_;
  }

  // Later reads return this status. With OK, they return the texts again.
  void SetReadStatus(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    read_status_ = status;
  }
  // Later writes return this status. Unless it is OK, they store nothing.
  void SetWriteStatus(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    write_status_ = status;
  }
  // Returns the number of writes, including failed ones.
  int writes() const {
    const std::lock_guard lock(mutex_);
    return writes_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> texts_;
  absl::Status read_status_;
  absl::Status write_status_;
  int writes_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_HOOKS_FAKE_LEADER_NOTES_H_
