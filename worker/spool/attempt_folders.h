// Folders of the attempts. Records, whose path is not passed to any job:
// DATA_DIR/attempts/JOB/ATTEMPT/{start.pb, rankR/...}. The ranks' own directories:
// DATA_DIR/runs/JOB/ATTEMPT/rankR/.
#ifndef TRAINYARD_WORKER_SPOOL_ATTEMPT_FOLDERS_H_
#define TRAINYARD_WORKER_SPOOL_ATTEMPT_FOLDERS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/support/guarded_path.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/attempts.h"

namespace trainyard::worker {

inline constexpr char kSpecFile[] = "spec.json";
inline constexpr char kTelemetryFile[] = "telemetry.jsonl";
inline constexpr char kHealFile[] = "heal.json";

// Used by one thread. Errors name the path and the cause.
class AttemptFolders {
 public:
  // `data_dir` is absolute. Missing parts of it are created.
  explicit AttemptFolders(std::string data_dir);

  // Directory of the rank's records.
  std::string RankDir(const RankKey& key) const;
  // The rank's own directory. In attempts of earlier versions it is the same as RankDir.
  std::string RunDir(const RankKey& key) const { return GuardedRunDir(key).text(); }
  GuardedPath GuardedRunDir(const RankKey& key) const;
  // Contains the ranks' own directories of all attempts of the job.
  GuardedPath JobDir(int64_t job_id) const;
  // The rank's output and telemetry.
  GuardedPath OutputFile(const RankKey& key) const;
  GuardedPath TelemetryFile(const RankKey& key) const;

  // Creates the folders of the attempt and of its ranks (0700) and, last, start.pb: an attempt
  // without start.pb and without a rank's record never spawned a rank. Anything an older attempt
  // left in the place of a run directory is moved aside. INVALID_ARGUMENT: the job is at fault
  // (run_directory.h).
  absl::Status Create(const v1::StartAttempt& command) const;

  // Replaces the rank's order file by an atomic rename. The file is written in the rank's records
  // folder, so that nothing the rank has put into its run directory can delay the write.
  absl::Status WriteOrder(const RankKey& key, std::string_view order) const;

  struct Found {
    std::vector<v1::StartAttempt> attempts;
    // Attempts with started or running ranks whose start.pb is lost or damaged. Only job, attempt
    // and rank numbers are set.
    std::vector<v1::StartAttempt> lost;
    // Defects of folders, one line each, for the log.
    std::vector<std::string> warnings;
  };
  // Finds every attempt on disk and every attempt of `running` (ranks known to have processes),
  // sorted by job and attempt. Removes the remains of a Create or Remove interrupted by a crash.
  absl::StatusOr<Found> Scan(const std::set<RankKey>& running = {}) const;

  // Removes the attempt's records and moves its ranks' own directories away, for RemoveMovedRuns.
  // OK if there are none.
  absl::Status Remove(const AttemptKey& key) const;

  // Remove run directories moved away by Remove, of one attempt or of all, including directories
  // that a program made read-only. May take long: a program can leave any number of files.
  // Thread-safe.
  absl::Status RemoveMovedRuns(const AttemptKey& key) const;
  absl::Status RemoveAllMovedRuns() const;

 private:
  std::string AttemptDir(const AttemptKey& key) const;
  // Returns whether the job's run directory exists. False if the job has replaced it by something
  // else.
  bool HasRunsOf(int64_t job_id) const;
  void ScanAttempt(const AttemptKey& key, std::set<int> running, Found& found) const;
  void MoveRunsWithoutAttempt(const Found& found) const;

  const std::string root_;
  const std::string runs_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_ATTEMPT_FOLDERS_H_
