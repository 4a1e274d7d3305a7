// The archive, stored in the event log's database, so that one commit removes a job from the state
// and adds it to the archive.
#ifndef TRAINYARD_CONTROLLER_STORE_ARCHIVE_SQLITE_JOB_ARCHIVE_H_
#define TRAINYARD_CONTROLLER_STORE_ARCHIVE_SQLITE_JOB_ARCHIVE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controller/store/archive/job_archive.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// The schema of the archive's tables, for the event log's migrations.
extern const char kArchiveSchema[];
extern const char kArchiveTimeSchema[];

class SqliteJobArchive : public JobArchive {
 public:
  // The database schema must be up to date.
  static absl::StatusOr<std::unique_ptr<SqliteJobArchive>> Open(SqliteDatabase& writer);

  // The changes that one transaction makes to the numbers of archived jobs, by state.
  using Changes = std::map<v1::JobState, int64_t>;

  // Insert adds jobs. Remove removes a job, if the archive contains it. Both are part of the open
  // transaction of `writer`.
  static absl::Status Insert(const std::vector<v1::ArchivedJob>& jobs, SqliteDatabase& writer,
                             Changes& changes);
  static absl::Status Remove(int64_t job_id, SqliteDatabase& writer, Changes& changes);
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
  explicit SqliteJobArchive(std::string path) : readers_(std::move(path)) {}

  mutable std::mutex mutex_;
  std::map<v1::JobState, int64_t> counts_;  // Guarded by mutex_.
  SqliteReaderPool readers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_ARCHIVE_SQLITE_JOB_ARCHIVE_H_
