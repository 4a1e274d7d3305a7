// Removal of data from the stores; controller/retention decides which.
#ifndef TRAINYARD_CONTROLLER_STORE_PRUNING_H_
#define TRAINYARD_CONTROLLER_STORE_PRUNING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Bytes of a store's file.
struct StoreUsage {
  // Taken by data.
  int64_t used_bytes = 0;
  // Free within the file: later writes use them.
  int64_t free_bytes = 0;
};

// Part of every store. Thread-safe.
class PrunableStore {
 public:
  virtual ~PrunableStore() = default;

  virtual absl::StatusOr<StoreUsage> Usage() = 0;

  // Smallest number above `after` of a job that has data here; 0 when there is none.
  virtual absl::StatusOr<int64_t> NextJob(int64_t after) = 0;

  // Bytes of the job's data, without indexes and what the file's pages leave unused.
  virtual absl::StatusOr<int64_t> JobBytes(int64_t job_id) = 0;

  // Removes a bounded part of what is to go, in transactions of a few milliseconds, and gives pages
  // at the end of the file back to the file system. False when nothing is left to do.
  virtual absl::StatusOr<bool> Reclaim() = 0;
};

// Metrics or output.
class PrunableData : public PrunableStore {
 public:
  // In one transaction the job has no data here any more; the space comes back with Reclaim. Data
  // that comes later begins anew. UNAVAILABLE: an earlier drop of the same job is not reclaimed
  // yet.
  virtual absl::Status DropJob(int64_t job_id) = 0;
};

// Only events that a snapshot holds can go.
class PrunableEvents : public PrunableStore {
 public:
  // Removes some of the job's events, oldest first, but for its deletion (JobDeleted); false when
  // none is left that can go.
  virtual absl::StatusOr<bool> DropJobEvents(int64_t job_id) = 0;

  // The same for events that name no job, and those of finished deletions, before this time.
  virtual absl::StatusOr<bool> DropNodeEvents(int64_t before_ms) = 0;

  // The event that deleted the job; nothing when it was not deleted, or long ago.
  virtual absl::StatusOr<std::optional<v1::Event>> FindDeletion(int64_t job_id) = 0;

  // Deletions after this event that are not finished, oldest first, at most 100.
  virtual absl::StatusOr<std::vector<v1::EventEntry>> OpenDeletions(uint64_t after) = 0;

  // The deletion is over once no other event of the job is left; false when some are.
  virtual absl::StatusOr<bool> FinishDeletion(int64_t job_id) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_PRUNING_H_
