// Position marks. They show whether a store was replaced by an older copy. The event log records
// the position of every other store, and every other store records the position of the event log.
#ifndef TRAINYARD_CONTROLLER_STORE_SUPPORT_STORE_MARK_H_
#define TRAINYARD_CONTROLLER_STORE_SUPPORT_STORE_MARK_H_

#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Position of a store other than the event log.
struct StoreMark {
  // Random id, created with the store.
  int64_t store_id = 0;
  // The number of transactions that added data or a mark.
  int64_t writes = 0;

  friend bool operator==(const StoreMark&, const StoreMark&) = default;
};

// Implemented by the metric store and the log store. Thread-safe.
class MarkedStore {
 public:
  virtual ~MarkedStore() = default;

  // Sets `mark` as the newest durable position of the event log. The next append writes the mark.
  virtual void NoteLogMark(const v1::LogMark& mark) = 0;
  // Writes the recorded mark unless it is already durable. Returns the same errors as an append.
  virtual absl::Status WriteLogMark() = 0;
  // Returns the durable mark; empty if there is none yet.
  virtual absl::StatusOr<v1::LogMark> ReadLogMark() = 0;
  // Returns the store id and the number of durable writes.
  virtual StoreMark Position() = 0;
};

// Implements MarkedStore for in-memory stores. The mark is lost with the store.
template <typename Store>
class WithMemoryMark : public Store {
 public:
  void NoteLogMark(const v1::LogMark& mark) override {
    const std::lock_guard lock(mark_mutex_);
    noted_ = mark;
  }
  absl::Status WriteLogMark() override {
    const std::lock_guard lock(mark_mutex_);
    written_ = noted_;
    ++writes_;
    return absl::OkStatus();
  }
  absl::StatusOr<v1::LogMark> ReadLogMark() override {
    const std::lock_guard lock(mark_mutex_);
    return written_;
  }
  StoreMark Position() override {
    const std::lock_guard lock(mark_mutex_);
    return {.store_id = 1, .writes = writes_};
  }

 private:
  std::mutex mark_mutex_;
  // Guarded by mark_mutex_.
  v1::LogMark noted_;
  v1::LogMark written_;
  int64_t writes_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SUPPORT_STORE_MARK_H_
