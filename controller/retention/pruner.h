// The thread that removes what the rules of retention and deletions say, in small pieces with
// pauses, so that neither the loop nor the writers of the stores wait for it.
#ifndef TRAINYARD_CONTROLLER_RETENTION_PRUNER_H_
#define TRAINYARD_CONTROLLER_RETENTION_PRUNER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "controller/retention/clock_doubt.h"
#include "controller/retention/ended_jobs.h"
#include "controller/retention/policy.h"
#include "controller/retention/removal_retries.h"
#include "controller/store/pruning.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

struct StoreSpaceUse {
  const char* store = "";  // "events", "metrics" or "logs".
  StoreUsage usage;
  int64_t bound_bytes = 0;  // 0: none.
};

struct SpaceReport {
  std::vector<StoreSpaceUse> stores;
  int64_t disk_bytes = 0;  // 0: unknown.
  int64_t disk_free_bytes = 0;
  // Reason why nothing is removed for its age (clock_doubt.h); empty when all is well.
  std::string clock_doubt;
  // Abandoned removals of checkpoints, one line each.
  std::vector<std::string> abandoned_removals;
};

struct PrunerOptions {
  RetentionPolicy policy;
  // Empty: the stores have no disk.
  std::string data_dir;
  // Checkpoints are removed below it only.
  std::string checkpoint_root;
  // Time of the newest event before the start; 0: none.
  Timestamp newest_event_ms = 0;
  // Until the first pass: before workers have attached again nobody knows that output is complete.
  std::chrono::milliseconds start_delay{15'000};
  std::chrono::milliseconds pass_interval{600'000};
  std::chrono::milliseconds measure_interval{10'000};
  // Pause after a piece of work, in multiples of its duration.
  int pause_factor = 4;
};

// The stores that the pruner removes from; all of them outlive it.
struct PrunedStores {
  PrunableEvents& events;
  PrunableData& metrics;
  PrunableData& logs;
};

// Everything it does can be cut off at any point: a drop hides data in one transaction, and the
// next pass takes up what is left. Errors of a store are logged, and the next pass tries again.
class Pruner {
 public:
  Pruner(PrunedStores stores, EndedJobs& ended_jobs, const Clock& clock, PrunerOptions options);
  // Stops.
  ~Pruner();

  void Start();
  // Waits for the piece of work at hand.
  void Stop();

  // Removes the data of deleted jobs now instead of with the next pass. Any thread.
  void Wake();

  // As it was measured at most some seconds ago. Any thread.
  SpaceReport Space() const;

  // One pass over everything, and a measurement. Before Start, for tests.
  void RunPass();

 private:
  // One store with its rule and its way of dropping a job.
  struct Section {
    const char* name;
    PrunableStore& store;
    const RetentionRule& rule;
    std::function<absl::Status(int64_t job_id)> drop;
  };

  void Run();
  // Sets pass_time_ms_. The believed time is kept on the disk for the next start: the times of
  // events that were recorded with a wrong clock would deceive it.
  void ReadClock();
  Timestamp KnownTime() const;
  void FinishDeletions();
  absl::Status FinishDeletion(const v1::JobDeleted& deleted);
  // Returns false if a checkpoint is left that may still be removed.
  bool RemoveCheckpoints(const v1::JobDeleted& deleted);
  void DeleteOldJobs();
  absl::Status PruneSection(const Section& section);
  absl::Status PruneByAge(const Section& section, std::vector<EndedJob>* kept);
  absl::Status PruneBySize(const Section& section, std::vector<EndedJob> oldest_first);
  absl::Status DropData(PrunableData& store, int64_t job_id);
  absl::Status DropEvents(int64_t job_id);
  // Repeats `work` until it returns false, with pauses.
  absl::Status Repeat(const std::function<absl::StatusOr<bool>()>& work);
  // Waits for a multiple of the time since `begin`.
  void PauseAfter(std::chrono::steady_clock::time_point begin);
  void Measure();
  int64_t DiskBytes() const;
  bool Stopping() const;

  const PrunedStores stores_;
  EndedJobs& ended_jobs_;
  const Clock& clock_;
  const PrunerOptions options_;
  const std::vector<Section> sections_;

  RemovalRetries removals_;
  ClockDoubt clock_doubt_;
  // Wall time of the pass; nothing while it is in doubt, when no age counts. One time a pass: the
  // clock may be set meanwhile.
  std::optional<Timestamp> pass_time_ms_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool stopping_ = false;
  bool woken_ = false;
  SpaceReport space_;
  std::string doubt_;

  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RETENTION_PRUNER_H_
