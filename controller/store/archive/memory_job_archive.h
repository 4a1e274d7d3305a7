// In-memory job archive for simulation and tests.
#ifndef TRAINYARD_CONTROLLER_STORE_ARCHIVE_MEMORY_JOB_ARCHIVE_H_
#define TRAINYARD_CONTROLLER_STORE_ARCHIVE_MEMORY_JOB_ARCHIVE_H_

#include <map>
#include <mutex>
#include <string>

#include "controller/store/archive/job_archive.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// Stores jobs in serialized form, as the database does. Thread-safe.
class MemoryJobArchive : public JobArchive {
 public:
  void Add(const v1::ArchivedJob& job);
  void Remove(int64_t job_id);

  bool HasJobs() const override;
  std::map<v1::JobState, int64_t> CountByState() const override;
  Found Find(int64_t job_id) override;
  Found FindByName(const std::string& name) override;
  Found FindByRequestId(const std::string& request_id) override;
  absl::StatusOr<ArchivedPage> List(const v1::ListJobsRequest& request,
                                    const std::optional<JobPlace>& after, int limit) override;
  absl::Status ForEachTime(int64_t since_ms,
                           const std::function<void(const v1::JobTime&)>& visit) override;
  absl::StatusOr<std::vector<ArchivedEnd>> EndedBy(int64_t ended_ms, int limit) override;
  absl::StatusOr<std::vector<ArchivedEnd>> EndsOf(const std::vector<int64_t>& job_ids) override;

 private:
  mutable std::mutex mutex_;
  std::map<int64_t, std::string> jobs_;  // Guarded by mutex_.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_ARCHIVE_MEMORY_JOB_ARCHIVE_H_
