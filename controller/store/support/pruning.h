// Functions of the stores for removing data. controller/retention decides which data to remove.
#ifndef TRAINYARD_CONTROLLER_STORE_SUPPORT_PRUNING_H_
#define TRAINYARD_CONTROLLER_STORE_SUPPORT_PRUNING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The size of a store's file and of its parts, in bytes.
struct StoreUsage {
  // Used by data.
  int64_t used_bytes = 0;
  // Free space within the file, which later writes reuse.
  int64_t free_bytes = 0;
};

// Implemented by every store. Thread-safe.
class PrunableStore {
 public:
  virtual ~PrunableStore() = default;

  virtual absl::StatusOr<StoreUsage> Usage() = 0;

  // Returns the lowest job id above `after` that has data in this store; 0 if there is none.
  virtual absl::StatusOr<int64_t> NextJob(int64_t after) = 0;

  // Returns the size of the job's data in bytes, without indexes and unused space in pages.
  virtual absl::StatusOr<int64_t> JobBytes(int64_t job_id) = 0;

  // Removes a limited amount of dropped data, in transactions of a few milliseconds. Then returns
  // free pages at the end of the file to the file system. Returns false if there was nothing to do.
  virtual absl::StatusOr<bool> Reclaim() = 0;
};

// Implemented by the metric store and the log store.
class PrunableData : public PrunableStore {
 public:
  // Drops the job's data in one transaction. Reclaim later frees the space. If more data of the job
  // arrives, it is stored as for a new job. UNAVAILABLE: an earlier drop of the same job is not
  // reclaimed yet.
  virtual absl::Status DropJob(int64_t job_id) = 0;
};

// The event log as a prunable store. Only events covered by a snapshot can be removed.
class PrunableEvents : public PrunableStore {
 public:
  // Removes some of the job's events, oldest first, but never the event of its deletion
  // (JobDeleted). Returns false if no removable event is left.
  virtual absl::StatusOr<bool> DropJobEvents(int64_t job_id) = 0;

  // Removes events before this time that belong to no job, and events of finished deletions.
  // Returns false if none is left.
  virtual absl::StatusOr<bool> DropNodeEvents(int64_t before_ms) = 0;

  // Returns the event that deleted the job; nullopt if the job was not deleted or that event has
  // been removed.
  virtual absl::StatusOr<std::optional<v1::Event>> FindDeletion(int64_t job_id) = 0;

  // Returns at most 100 unfinished deletions after this event, oldest first.
  virtual absl::StatusOr<std::vector<v1::EventEntry>> OpenDeletions(uint64_t after) = 0;

  // If no other event of the job is left, marks its deletion as finished. Otherwise returns false.
  virtual absl::StatusOr<bool> FinishDeletion(int64_t job_id) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SUPPORT_PRUNING_H_
