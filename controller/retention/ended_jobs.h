// Gives the retention thread access to ended jobs, both in the state and in the archive.
#ifndef TRAINYARD_CONTROLLER_RETENTION_ENDED_JOBS_H_
#define TRAINYARD_CONTROLLER_RETENTION_ENDED_JOBS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/api/context/api.h"
#include "controller/api/context/cluster_loop.h"
#include "controller/core/decide/deletion.h"
#include "controller/store/archive/job_archive.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

struct EndedJob {
  int64_t id = 0;
  Timestamp ended_ms = 0;
};

// Use from one thread. Every call may block until the loop has answered.
class EndedJobs {
 public:
  virtual ~EndedJobs() = default;

  // Returns the jobs in `ids` that have ended and will produce no further output. Skips unknown
  // ids.
  virtual absl::StatusOr<std::vector<EndedJob>> Among(const std::vector<int64_t>& ids) = 0;

  // Returns at most 100 jobs that ended at or before `ended_ms` and will produce no further output.
  // Archived jobs come before jobs in the state. Within each group, jobs that ended earlier come
  // first.
  virtual absl::StatusOr<std::vector<EndedJob>> EndedBy(Timestamp ended_ms) = 0;

  // See controller/core/decide/deletion.h.
  virtual std::vector<DirectoryOfJob> DirectoriesOfOthers(int64_t job_id) = 0;

  // Deletes the job because of the retention rules. Errors: see DecideDeletion.
  virtual absl::Status Delete(int64_t job_id, bool checkpoints) = 0;
};

// Reads the state on the loop thread, so the loop must be running during every call. Archived jobs
// produce no further output.
class LoopEndedJobs final : public EndedJobs {
 public:
  LoopEndedJobs(ClusterLoop& loop, JobArchive& archive, OutputComplete output_complete)
      : loop_(loop), archive_(archive), output_complete_(std::move(output_complete)) {}

  absl::StatusOr<std::vector<EndedJob>> Among(const std::vector<int64_t>& ids) override;
  absl::StatusOr<std::vector<EndedJob>> EndedBy(Timestamp ended_ms) override;
  std::vector<DirectoryOfJob> DirectoriesOfOthers(int64_t job_id) override;
  absl::Status Delete(int64_t job_id, bool checkpoints) override;

 private:
  // Returns the job if it is in the archive and not in the state. Otherwise returns nullptr.
  absl::StatusOr<std::shared_ptr<const JobEntry>> ReadArchived(int64_t job_id);

  ClusterLoop& loop_;
  JobArchive& archive_;
  const OutputComplete output_complete_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RETENTION_ENDED_JOBS_H_
