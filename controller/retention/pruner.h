// The thread that carries out retention rules and deletions. It pauses between small pieces of
// work, so that it does not delay the loop and the writers of the stores.
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
#include "controller/store/support/pruning.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

struct StoreSpaceUse {
  const char* store = "";  // "events", "metrics" or "logs".
  StoreUsage usage;
  int64_t bound_bytes = 0;  // 0 if there is no limit.
};

struct SpaceReport {
  std::vector<StoreSpaceUse> stores;
  int64_t disk_bytes = 0;  // 0 if unknown.
  int64_t disk_free_bytes = 0;
  // The reason why nothing is removed by age (clock_doubt.h). Empty if the clock is trusted.
  std::string clock_doubt;
  // One line for each abandoned removal of a checkpoint.
  std::vector<std::string> abandoned_removals;
};

struct PrunerOptions {
  RetentionPolicy policy;
  // Empty if the stores are in memory.
  std::string data_dir;
  // Checkpoints are removed only below this directory.
  std::string checkpoint_root;
  // The time of the newest event before the start, or 0 if there is none.
  Timestamp newest_event_ms = 0;
  // The delay before the first pass. Before workers have attached again, it is unknown whether
  // jobs' output is complete.
  std::chrono::milliseconds start_delay{15'000};
  std::chrono::milliseconds pass_interval{600'000};
  std::chrono::milliseconds measure_interval{10'000};
  // After each piece of work, the pruner pauses for this many times the duration of the work.
  int pause_factor = 4;
};

// The stores from which data is removed. All must outlive the pruner.
struct PrunedStores {
  PrunableEvents& events;
  PrunableData& metrics;
  PrunableData& logs;
};

// May be interrupted at any point. A drop hides a job's data in one transaction; the hidden data is
// removed afterwards. The next pass continues an interrupted removal. Errors of a store are logged,
// and the next pass tries again.
class Pruner {
 public:
  Pruner(PrunedStores stores, EndedJobs& ended_jobs, const Clock& clock, PrunerOptions options);
  // Stops.
  ~Pruner();

  void Start();
  // Finishes the current piece of work, and then ends the thread.
  void Stop();

  // Starts removing the data of deleted jobs now instead of in the next pass. May be called on any
  // thread.
  void Wake();

  // Returns the latest measurement, which is normally at most a few seconds old. May be called on
  // any thread.
  SpaceReport Space() const;

  // Runs one complete pass and measures the stores. For tests. Call before Start.
  void RunPass();

 private:
  // A store, its rule, and the function that drops a job's data from it.
  struct Section {
    const char* name;
    PrunableStore& store;
    const RetentionRule& rule;
    std::function<absl::Status(int64_t job_id)> drop;
  };

  void Run();
  // Sets pass_time_ms_, and stores the trusted time for the next start. The time of the newest
  // event cannot replace the stored time, because that event may have been recorded with a wrong
  // clock.
  void ReadClock();
  Timestamp KnownTime() const;
  void FinishDeletions();
  absl::Status FinishDeletion(const v1::JobDeleted& deleted);
  // Returns false if a checkpoint is left that a later try may still remove.
  bool RemoveCheckpoints(const v1::JobDeleted& deleted);
  void DeleteOldJobs();
  absl::Status PruneSection(const Section& section);
  absl::Status PruneByAge(const Section& section, std::vector<EndedJob>* kept);
  absl::Status PruneBySize(const Section& section, std::vector<EndedJob> oldest_first);
  absl::Status DropData(PrunableData& store, int64_t job_id);
  absl::Status DropEvents(int64_t job_id);
  // Calls `work` until it returns false, with pauses in between.
  absl::Status Repeat(const std::function<absl::StatusOr<bool>()>& work);
  // Waits for pause_factor times the time since `begin`.
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
  // The wall time of the pass. Read once per pass, because the clock may be set during the pass.
  // nullopt while the clock is in doubt; no data is then removed by age.
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
