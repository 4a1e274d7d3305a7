#include "controller/store/memory_event_log.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/event_job.h"

namespace trainyard::controller {

absl::StatusOr<EventLog::Recovery> MemoryEventLog::Recover() {
  std::lock_guard lock(mutex_);
  return Read(events_.size());
}

absl::StatusOr<EventLog::Recovery> MemoryEventLog::ReadUpTo(uint64_t last_sequence) {
  std::lock_guard lock(mutex_);
  return Read(last_sequence);
}

// The caller holds mutex_.
EventLog::Recovery MemoryEventLog::Read(uint64_t last_sequence) const {
  Recovery recovery;
  if (snapshot_.has_value()) {
    recovery.snapshot.emplace().ParseFromString(*snapshot_);
    recovery.last_sequence = recovery.snapshot->last_sequence();
  }
  while (recovery.last_sequence < last_sequence) {
    recovery.events.emplace_back().ParseFromString(events_[recovery.last_sequence]);
    ++recovery.last_sequence;
  }
  return recovery;
}

absl::Status MemoryEventLog::Append(const std::vector<v1::Event>& events,
                                    const std::vector<v1::ArchivedJob>& archived) {
  std::lock_guard lock(mutex_);
  for (const v1::Event& event : events) {
    std::string bytes = event.SerializeAsString();
    // Fails when a text was cut within a character: a store on disk could not be read any more.
    if (!v1::Event().ParseFromString(bytes)) {
      return absl::InternalError(
          absl::StrCat("event ", events_.size() + 1, " cannot be read back"));
    }
    events_.push_back(std::move(bytes));
  }
  for (const v1::ArchivedJob& job : archived) archive_.Add(job);
  return absl::OkStatus();
}

absl::Status MemoryEventLog::WriteSnapshot(const v1::Snapshot& snapshot) {
  std::lock_guard lock(mutex_);
  if (snapshot.last_sequence() > events_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("snapshot holds events up to ",
                                                   snapshot.last_sequence(),
                                                   " but the log ends at ", events_.size()));
  }
  snapshot_ = snapshot.SerializeAsString();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Event>> MemoryEventLog::ReadJobEvents(int64_t job_id, int limit) {
  if (limit < 1) return absl::InvalidArgumentError("the limit of job events must be at least 1");
  std::lock_guard lock(mutex_);
  std::vector<v1::Event> found;
  for (auto bytes = events_.rbegin(); bytes != events_.rend(); ++bytes) {
    if (job_id == 0 || static_cast<int>(found.size()) == limit) break;
    v1::Event event;
    event.ParseFromString(*bytes);
    if (JobIdOf(event) == job_id) found.push_back(std::move(event));
  }
  std::ranges::reverse(found);
  return found;
}

absl::StatusOr<std::vector<v1::EventEntry>> MemoryEventLog::ReadEventsBefore(int64_t job_id,
                                                                             uint64_t before,
                                                                             int limit) {
  if (limit < 1) return absl::InvalidArgumentError("the limit of events must be at least 1");
  std::lock_guard lock(mutex_);
  std::vector<v1::EventEntry> found;
  uint64_t sequence = events_.size();
  if (before != 0) sequence = std::min<uint64_t>(sequence, before - 1);
  for (; sequence > 0 && static_cast<int>(found.size()) < limit; --sequence) {
    v1::EventEntry entry;
    entry.set_sequence(sequence);
    entry.mutable_event()->ParseFromString(events_[sequence - 1]);
    if (job_id == 0 || JobIdOf(entry.event()) == job_id) found.push_back(std::move(entry));
  }
  return found;
}

}  // namespace trainyard::controller
