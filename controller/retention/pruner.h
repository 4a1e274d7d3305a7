// The thread that carries out retention rules and deletions. It works in small pieces with pauses,
// so that it does not delay the loop and the stores' writers.
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
  int64_t bound_bytes = 0;  // 0 means no limit.
};

struct SpaceReport {
  std::vector<StoreSpaceUse> stores;
  int64_t disk_bytes = 0;  // 0 if unknown.
  int64_t disk_free_bytes = 0;
  // Reason why nothing is removed by age (clock_doubt.h); empty if the clock is believed.
  std::string clock_doubt;
  // Removals of checkpoints that were abandoned, one line each.
  std::vector<std::string> abandoned_removals;
};

struct PrunerOptions {
  RetentionPolicy policy;
  // Empty if the stores are in memory.
  std::string data_dir;
  // Checkpoints are removed only below this directory.
  std::string checkpoint_root;
  // Time of the newest event before the start; 0 if there is none.
  Timestamp newest_event_ms = 0;
  // The delay before the first pass. Until workers have attached again, it is unknown whether the
  // output of jobs is complete.
  std::chrono::milliseconds start_delay{15'000};
  std::chrono::milliseconds pass_interval{600'000};
  std::chrono::milliseconds measure_interval{10'000};
  // The pause after a piece of work is this many times as long as the work.
  int pause_factor = 4;
};

// The stores that data is removed from. All must outlive the pruner.
struct PrunedStores {
  PrunableEvents& events;
  PrunableData& metrics;
  PrunableData& logs;
};

// The pruner may be interrupted at any point. A drop hides a job's data in one transaction; if
// removing the hidden data is interrupted, the next pass continues. Errors of a store are logged,
// and the next pass tries again.
class Pruner {
 public:
  Pruner(PrunedStores stores, EndedJobs& ended_jobs, const Clock& clock, PrunerOptions options);
  // Stops.
  ~Pruner();

  void Start();
  // Finishes the current piece of work, then ends the thread.
  void Stop();

  // Starts removing the data of deleted jobs at once, without waiting for the next pass. Any
  // thread.
  void Wake();

  // Returns the latest measurement, normally at most a few seconds old. Any thread.
  SpaceReport Space() const;

  // Runs one complete pass and measures the stores. For tests; call only before Start.
  void RunPass();

 private:
  // One store, its rule, and the function that drops a job from it.
  struct Section {
    const char* name;
    PrunableStore& store;
    const RetentionRule& rule;
    std::function<absl::Status(int64_t job_id)> drop;
  };

  void Run();
  // Sets pass_time_ms_, and writes the believed time to disk for the next start. The times of
  // recorded events could not replace it, because events may have been recorded with a wrong clock.
  void ReadClock();
  Timestamp KnownTime() const;
  void FinishDeletions();
  absl::Status FinishDeletion(const v1::JobDeleted& deleted);
  // Returns false if a checkpoint is left and a later try may still remove it.
  bool RemoveCheckpoints(const v1::JobDeleted& deleted);
  void DeleteOldJobs();
  absl::Status PruneSection(const Section& section);
  absl::Status PruneByAge(const Section& section, std::vector<EndedJob>* kept);
  absl::Status PruneBySize(const Section& section, std::vector<EndedJob> oldest_first);
  absl::Status DropData(PrunableData& store, int64_t job_id);
  absl::Status DropEvents(int64_t job_id);
  // Repeats `work`, with pauses in between, until it returns false.
  absl::Status Repeat(const std::function<absl::StatusOr<bool>()>& work);
  // Waits pause_factor times as long as the time since `begin`.
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
  // The wall time of the pass. nullopt while the clock is in doubt; nothing is then removed by age.
  // The clock is read once per pass, because it may be set during the pass.
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
