#include "controller/store/events/memory_event_log.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/event_log/event_job.h"

namespace trainyard::controller {
namespace {

// One term is enough, because this log does not outlive its process.
constexpr uint64_t kTerm = 1;

}  // namespace

absl::StatusOr<EventLog::Recovery> MemoryEventLog::Recover() {
  std::lock_guard lock(mutex_);
  return Read(events_.size());
}

absl::StatusOr<EventLog::Recovery> MemoryEventLog::ReadUpTo(uint64_t last_sequence) {
  std::lock_guard lock(mutex_);
  return Read(last_sequence);
}

// Requires mutex_.
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

absl::Status MemoryEventLog::Append(const std::vector<LogRecord>& events,
                                    const std::vector<v1::ArchivedJob>& archived) {
  std::lock_guard lock(mutex_);
  for (const LogRecord& event : events) {
    // Parsing fails if a string was truncated inside a UTF-8 character. A log on disk could not
    // read such an event again.
    if (!v1::Event().ParseFromString(event.payload)) {
      return absl::InternalError(
          absl::StrCat("event ", events_.size() + 1, " cannot be read back"));
    }
    events_.push_back(event.payload);
    if (event.kind != v1::Event::kJobDeleted) continue;
    deletions_[event.job_id] = events_.size();
    open_deletions_.insert(event.job_id);
    archive_.Remove(event.job_id);
  }
  for (const v1::ArchivedJob& job : archived) archive_.Add(job);
  terms_.Appended(kTerm, events_.size());
  return absl::OkStatus();
}

void MemoryEventLog::NoteStore(const std::string& store, const StoreMark& mark) {
  const std::lock_guard lock(mutex_);
  store_marks_[store] = mark;
}

absl::StatusOr<std::map<std::string, StoreMark>> MemoryEventLog::StoreMarks() {
  const std::lock_guard lock(mutex_);
  return store_marks_;
}

absl::Status MemoryEventLog::WriteSnapshot(const v1::Snapshot& snapshot) {
  std::lock_guard lock(mutex_);
  if (snapshot.last_sequence() > events_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the snapshot contains events up to ",
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
    if (bytes->empty()) continue;
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
    if (events_[sequence - 1].empty()) continue;
    v1::EventEntry entry;
    entry.set_sequence(sequence);
    entry.mutable_event()->ParseFromString(events_[sequence - 1]);
    if (job_id == 0 || JobIdOf(entry.event()) == job_id) found.push_back(std::move(entry));
  }
  return found;
}

absl::StatusOr<std::vector<v1::EventEntry>> MemoryEventLog::ReadEventsAfter(uint64_t after,
                                                                            int limit) {
  if (limit < 1) return absl::InvalidArgumentError("the limit of events must be at least 1");
  std::lock_guard lock(mutex_);
  std::vector<v1::EventEntry> found;
  for (uint64_t sequence = after + 1;
       sequence <= events_.size() && static_cast<int>(found.size()) < limit; ++sequence) {
    if (events_[sequence - 1].empty()) continue;
    v1::EventEntry& entry = found.emplace_back();
    entry.set_sequence(sequence);
    entry.mutable_event()->ParseFromString(events_[sequence - 1]);
  }
  return found;
}

absl::StatusOr<StoreUsage> MemoryEventLog::Usage() {
  std::lock_guard lock(mutex_);
  StoreUsage usage;
  for (const std::string& bytes : events_) usage.used_bytes += static_cast<int64_t>(bytes.size());
  return usage;
}

absl::StatusOr<int64_t> MemoryEventLog::NextJob(int64_t after) {
  std::lock_guard lock(mutex_);
  int64_t next = 0;
  for (const std::string& bytes : events_) {
    v1::Event event;
    event.ParseFromString(bytes);
    const int64_t job_id = JobIdOf(event);
    if (job_id > after && (next == 0 || job_id < next)) next = job_id;
  }
  return next;
}

absl::StatusOr<int64_t> MemoryEventLog::JobBytes(int64_t job_id) {
  std::lock_guard lock(mutex_);
  int64_t sum = 0;
  for (const std::string& bytes : events_) {
    v1::Event event;
    event.ParseFromString(bytes);
    if (JobIdOf(event) == job_id) sum += static_cast<int64_t>(bytes.size());
  }
  return sum;
}

absl::StatusOr<bool> MemoryEventLog::Reclaim() { return false; }

// Requires mutex_.
template <typename Goes>
void MemoryEventLog::DropWhere(const Goes& goes) {
  v1::Snapshot snapshot;
  if (!snapshot_.has_value() || !snapshot.ParseFromString(*snapshot_)) return;
  const std::size_t end = std::min<std::size_t>(snapshot.last_sequence(), events_.size() - 1);
  for (std::size_t i = 0; i < end; ++i) {
    v1::Event event;
    event.ParseFromString(events_[i]);
    if (!events_[i].empty() && goes(event)) events_[i].clear();
  }
}

absl::StatusOr<bool> MemoryEventLog::DropJobEvents(int64_t job_id) {
  std::lock_guard lock(mutex_);
  DropWhere(
      [=](const v1::Event& event) { return JobIdOf(event) == job_id && !event.has_job_deleted(); });
  return false;
}

absl::StatusOr<bool> MemoryEventLog::DropNodeEvents(int64_t before_ms) {
  std::lock_guard lock(mutex_);
  DropWhere([&](const v1::Event& event) {
    const int64_t deleted = event.job_deleted().job_id();
    const bool finished = event.has_job_deleted() && !open_deletions_.contains(deleted);
    const bool goes = event.time_ms() < before_ms && (JobIdOf(event) == 0 || finished);
    if (goes && finished) deletions_.erase(deleted);
    return goes;
  });
  return false;
}

absl::StatusOr<std::optional<v1::Event>> MemoryEventLog::FindDeletion(int64_t job_id) {
  std::lock_guard lock(mutex_);
  const auto found = deletions_.find(job_id);
  if (found == deletions_.end()) return std::optional<v1::Event>();
  v1::Event event;
  event.ParseFromString(events_[found->second - 1]);
  return std::optional(std::move(event));
}

absl::StatusOr<std::vector<v1::EventEntry>> MemoryEventLog::OpenDeletions(uint64_t after) {
  std::lock_guard lock(mutex_);
  std::map<uint64_t, v1::EventEntry> deletions;
  for (const int64_t job_id : open_deletions_) {
    const uint64_t sequence = deletions_.at(job_id);
    if (sequence <= after) continue;
    deletions[sequence].set_sequence(sequence);
    deletions[sequence].mutable_event()->ParseFromString(events_[sequence - 1]);
  }
  std::vector<v1::EventEntry> entries;
  for (auto& [sequence, entry] : deletions) entries.push_back(std::move(entry));
  return entries;
}

absl::StatusOr<bool> MemoryEventLog::FinishDeletion(int64_t job_id) {
  std::lock_guard lock(mutex_);
  for (const std::string& bytes : events_) {
    v1::Event event;
    event.ParseFromString(bytes);
    if (JobIdOf(event) == job_id && !event.has_job_deleted()) return false;
  }
  open_deletions_.erase(job_id);
  return true;
}

}  // namespace trainyard::controller
