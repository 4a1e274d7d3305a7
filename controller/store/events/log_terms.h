// Terms of the event log. A term is the range of events that one controller process appended. A
// sequence number alone does not identify an event: after the log is replaced by an older copy,
// numbers are assigned again. The term and the number together identify an event.
#ifndef TRAINYARD_CONTROLLER_STORE_EVENTS_LOG_TERMS_H_
#define TRAINYARD_CONTROLLER_STORE_EVENTS_LOG_TERMS_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

struct LogTerm {
  uint64_t first_sequence = 0;
  uint64_t id = 0;
};

// Knows only durable events. Thread-safe.
class LogTerms {
 public:
  // Sets the terms of the log, oldest first, and the sequence number of its last event.
  void Load(std::vector<LogTerm> terms, uint64_t last_sequence);
  // Call after all events up to `last_sequence` have become durable. The events since the last call
  // belong to term `id`.
  void Appended(uint64_t id, uint64_t last_sequence);

  // Returns true if the newest term is not `id`. The next append then begins term `id`.
  bool Begins(uint64_t id) const;

  // Returns the mark of the last event, without a job id. The mark is empty if the log is empty.
  v1::LogMark Newest() const;
  // Returns the mark of this event, without a job id. The log must contain the event.
  v1::LogMark MarkOf(uint64_t sequence) const;
  // Returns true if the log contains the mark's event. Marks of older releases have no term, so
  // only their number is compared.
  bool Covers(const v1::LogMark& mark) const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<LogTerm> terms_;
  uint64_t last_sequence_ = 0;
};

// Returns a random id of a term, never 0.
uint64_t NewTermId();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_EVENTS_LOG_TERMS_H_
