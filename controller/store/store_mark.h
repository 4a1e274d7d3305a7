// High-water marks that the event log and the stores beside it keep of each other, so that an older
// copy of one of them is noticed.
#ifndef TRAINYARD_CONTROLLER_STORE_STORE_MARK_H_
#define TRAINYARD_CONTROLLER_STORE_STORE_MARK_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/sqlite_database.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Position of a store beside the event log.
struct StoreMark {
  // Random id, made with the store.
  int64_t store_id = 0;
  // Transactions that added data or a mark.
  int64_t writes = 0;

  friend bool operator==(const StoreMark&, const StoreMark&) = default;
};

// Part of the metric store and the log store. Thread-safe.
class MarkedStore {
 public:
  virtual ~MarkedStore() = default;

  // The event log is durable up to this mark. The next append writes it.
  virtual void NoteLogMark(const v1::LogMark& mark) = 0;
  // Writes the noted mark when it is not durable yet. Errors as from an append.
  virtual absl::Status WriteLogMark() = 0;
  // The durable mark; empty when there is none yet.
  virtual absl::StatusOr<v1::LogMark> ReadLogMark() = 0;
  // Number of durable writes.
  virtual StoreMark Position() = 0;
};

// A store in memory: what it has is as durable as it.
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

// The mark's row in a database. The caller serialises all calls but position().
class MarkTable {
 public:
  // Reads the row that kMarkSchema made.
  static absl::StatusOr<std::unique_ptr<MarkTable>> Open(SqliteDatabase& database);
  static absl::StatusOr<v1::LogMark> Read(SqliteDatabase& database);

  void Note(const v1::LogMark& mark) { noted_ = mark; }
  // Makes the noted mark durable in a transaction of its own, unless it is.
  absl::Status WriteIfDue(SqliteDatabase& database);
  // Counts a write and writes the noted mark, in the caller's transaction.
  absl::Status Write(SqliteDatabase& database);
  // The transaction of Write is durable.
  void Committed();
  StoreMark position() const { return {store_id_, writes_.load()}; }

 private:
  MarkTable(int64_t store_id, int64_t writes, v1::LogMark written)
      : store_id_(store_id), noted_(written), written_(written), writes_(writes) {}

  const int64_t store_id_;
  v1::LogMark noted_;
  v1::LogMark written_;
  std::atomic<int64_t> writes_;
};

// Schema step of a store with a mark.
inline constexpr char kMarkSchema[] = R"(
  CREATE TABLE mark (
    store_id INTEGER NOT NULL,
    writes INTEGER NOT NULL,
    term INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    job_id INTEGER NOT NULL
  ) STRICT;
  INSERT INTO mark VALUES (random(), 0, 0, 0, 0);
)";

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_STORE_MARK_H_
