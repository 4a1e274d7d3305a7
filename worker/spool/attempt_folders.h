// The folders of attempts. Each attempt has two. The records are in
// DATA_DIR/attempts/JOB/ATTEMPT/{start.pb, rankR/...}; this path is not passed to any job. The
// ranks' own directories are DATA_DIR/runs/JOB/ATTEMPT/rankR/.
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
// Error of the program, as a program of PyTorch writes it to TORCHELASTIC_ERROR_FILE.
inline constexpr char kErrorFile[] = "error.json";
// In the directory of the records of a watched rank: v1::WatchState.
inline constexpr char kWatchFile[] = "watch.pb";

// Used by one thread. Errors name the path and the cause.
class AttemptFolders {
 public:
  // `data_dir` must be an absolute path. Its missing directories are created.
  explicit AttemptFolders(std::string data_dir);

  // Returns the directory of the rank's records.
  std::string RankDir(const RankKey& key) const;
  // Returns the rank's own directory. Attempts of earlier versions use RankDir.
  std::string RunDir(const RankKey& key) const { return GuardedRunDir(key).text(); }
  GuardedPath GuardedRunDir(const RankKey& key) const;
  // Returns the directory that contains the ranks' own directories of all attempts of the job.
  GuardedPath JobDir(int64_t job_id) const;
  // Return the paths of the rank's output file and of its telemetry file.
  GuardedPath OutputFile(const RankKey& key) const;
  GuardedPath ErrorFile(const RankKey& key) const;
  GuardedPath TelemetryFile(const RankKey& key) const;

  // Creates the folders of the attempt and of its ranks (0700). start.pb is written last. An
  // attempt that has neither start.pb nor a record of a rank therefore never spawned a rank.
  // Anything that an older attempt left at the path of a run directory is moved aside.
  // INVALID_ARGUMENT: the job is at fault (run_directory.h).
  absl::Status Create(const v1::StartAttempt& command) const;

  // Replaces the rank's order file by an atomic rename. The new file is first written in the folder
  // of the rank's records, so that nothing in the rank's run directory can delay the write.
  absl::Status WriteOrder(const RankKey& key, std::string_view order) const;

  struct Found {
    std::vector<v1::StartAttempt> attempts;
    // Attempts with started or running ranks but a lost or damaged start.pb. Only job, attempt and
    // rank numbers are set.
    std::vector<v1::StartAttempt> lost;
    // Problems with folders, one line each, for the log.
    std::vector<std::string> warnings;
  };
  // Returns every attempt on disk and every attempt of a rank in `running`, sorted by job and
  // attempt. `running` are the ranks known to have processes. Removes the files that a crash during
  // Create or Remove has left.
  absl::StatusOr<Found> Scan(const std::set<RankKey>& running = {}) const;

  // Removes the attempt's records, and moves the ranks' own directories away; RemoveMovedRuns
  // removes the moved directories later. Returns OK if the attempt has no records and no
  // directories.
  absl::Status Remove(const AttemptKey& key) const;

  // RemoveMovedRuns removes those run directories of one attempt that Remove has moved away.
  // RemoveAllMovedRuns does this for all attempts. Both functions also remove read-only
  // directories. Both may take long, because a program can create any number of files. Thread-safe.
  absl::Status RemoveMovedRuns(const AttemptKey& key) const;
  absl::Status RemoveAllMovedRuns() const;

 private:
  std::string AttemptDir(const AttemptKey& key) const;
  // True if the job's run directory exists. False if the job has replaced it with another file.
  bool HasRunsOf(int64_t job_id) const;
  void ScanAttempt(const AttemptKey& key, std::set<int> running, Found& found) const;
  void MoveRunsWithoutAttempt(const Found& found) const;

  const std::string root_;
  const std::string runs_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_ATTEMPT_FOLDERS_H_
