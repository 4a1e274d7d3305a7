// Keeps the highest attempt number of each job on disk. The file outlives the folders of the
// attempts, so that a late command for an old attempt is recognized.
#ifndef TRAINYARD_WORKER_SPOOL_ATTEMPT_NUMBER_LOG_H_
#define TRAINYARD_WORKER_SPOOL_ATTEMPT_NUMBER_LOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/core/seen_attempts.h"
#include "worker/spool/record_log.h"

namespace trainyard::worker {

// Used by one thread.
class AttemptNumberLog {
 public:
  // Reads the file and rewrites it with one record per job. DATA_LOSS if a record does not consist
  // of two numbers. Remembers at most `max_jobs` jobs (see SeenAttempts). The file has at most
  // twice as many records.
  static absl::StatusOr<std::unique_ptr<AttemptNumberLog>> Open(
      const std::string& path, std::size_t max_jobs = SeenAttempts::kMaxJobs);

  const SeenAttempts& seen() const { return seen_; }
  // See RecordLog::damage.
  const std::string& damage() const { return log_->damage(); }

  // Adds the numbers of the log at `former_path`, if it exists, to this log. Removes the former log
  // once its numbers are durable here. If the disk is full, keeps the former log for the next
  // start. DATA_LOSS as in Open.
  absl::Status TakeOver(const std::string& former_path);

  // Returns OK only when the number is durable. A number below the known one changes nothing.
  absl::Status Remember(int64_t job_id, int64_t attempt_number);

 private:
  explicit AttemptNumberLog(std::size_t max_jobs) : seen_(max_jobs) {}
  // Rewrites the file with one record per job.
  absl::Status Compact();

  std::unique_ptr<RecordLog> log_;
  std::size_t records_in_file_ = 0;
  SeenAttempts seen_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_ATTEMPT_NUMBER_LOG_H_
