// The archive in PostgreSQL, in the event log's tables, so that one commit removes a job from the
// state and adds it to the archive.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_JOB_ARCHIVE_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_JOB_ARCHIVE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controller/store/archive/job_archive.h"
#include "controller/store/postgres/postgres_database.h"
#include "controller/store/postgres/postgres_pool.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

class PostgresJobArchive : public JobArchive {
 public:
  // Counts the jobs on `database`, which may be in a transaction. `pool` is for reading and must
  // outlive the archive.
  static absl::StatusOr<std::unique_ptr<PostgresJobArchive>> Open(PostgresPool& pool,
                                                                  PostgresDatabase& database);

  // The changes that one transaction makes to the numbers of archived jobs, by state.
  using Changes = std::map<v1::JobState, int64_t>;

  // Insert adds jobs. Remove removes a job, if the archive contains it. Both are part of the open
  // transaction of `writer`.
  static absl::Status Insert(const std::vector<v1::ArchivedJob>& jobs, PostgresDatabase& writer,
                             Changes& changes);
  static absl::Status Remove(int64_t job_id, PostgresDatabase& writer, Changes& changes);
  // Updates the numbers of archived jobs. Call after the transaction was committed.
  void CountCommitted(const Changes& changes);

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
  explicit PostgresJobArchive(PostgresPool& pool) : pool_(pool) {}

  PostgresPool& pool_;
  mutable std::mutex mutex_;
  std::map<v1::JobState, int64_t> counts_;  // Guarded by mutex_.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_JOB_ARCHIVE_H_
