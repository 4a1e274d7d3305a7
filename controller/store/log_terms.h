// Terms of the event log: which controller process appended which events. An event's number alone
// does not identify it, because a log that has gone back in time assigns the number again; its term
// and number do.
#ifndef TRAINYARD_CONTROLLER_STORE_LOG_TERMS_H_
#define TRAINYARD_CONTROLLER_STORE_LOG_TERMS_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

struct LogTerm {
  uint64_t first_sequence = 0;
  uint64_t id = 0;
};

// Durable events only. Thread-safe.
class LogTerms {
 public:
  // The terms of the log, oldest first, and its last event.
  void Load(std::vector<LogTerm> terms, uint64_t last_sequence);
  // Events up to `last_sequence` have become durable. `id` is the term of the new ones.
  void Appended(uint64_t id, uint64_t last_sequence);

  // True while the newest term is another one: the next append begins the term `id`.
  bool Begins(uint64_t id) const;

  // The mark of the last event, without a job number; empty for an empty log.
  v1::LogMark Newest() const;
  // True when the mark's event is in the log. Of a mark without a term (older releases had none)
  // only the number is compared.
  bool Covers(const v1::LogMark& mark) const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<LogTerm> terms_;
  uint64_t last_sequence_ = 0;
};

// Random id of a term, never 0.
uint64_t NewTermId();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOG_TERMS_H_
