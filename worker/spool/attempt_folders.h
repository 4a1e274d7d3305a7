// Folders of the attempts: DATA_DIR/attempts/JOB/ATTEMPT/{start.pb, rankR/...}.
#ifndef TRAINYARD_WORKER_SPOOL_ATTEMPT_FOLDERS_H_
#define TRAINYARD_WORKER_SPOOL_ATTEMPT_FOLDERS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/attempts.h"

namespace trainyard::worker {

inline constexpr char kSpecFile[] = "spec.json";
inline constexpr char kTelemetryFile[] = "telemetry.jsonl";

// One thread. Errors name the path and the cause.
class AttemptFolders {
 public:
  // `root` is absolute; it is made when missing.
  explicit AttemptFolders(std::string root) : root_(std::move(root)) {}

  std::string RankDir(const RankKey& key) const;

  // Makes the folders of the attempt and of its ranks (0700) and, last, start.pb: an attempt
  // without start.pb never spawned a rank.
  absl::Status Create(const v1::StartAttempt& command) const;

  struct Found {
    std::vector<v1::StartAttempt> attempts;
    // Folders that were skipped, and the reason; one line each, for the log.
    std::vector<std::string> warnings;
  };
  // Every attempt on disk, by job and attempt. A folder without start.pb is the rest of a Create or
  // Remove that a crash interrupted: it is removed.
  absl::StatusOr<Found> Scan() const;

  // Removes the attempt's folder, start.pb first. OK when there is none.
  absl::Status Remove(const AttemptKey& key) const;

 private:
  std::string AttemptDir(const AttemptKey& key) const;

  const std::string root_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_ATTEMPT_FOLDERS_H_
