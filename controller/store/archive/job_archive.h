// Stores ended jobs that are no longer in the controller's state.
#ifndef TRAINYARD_CONTROLLER_STORE_ARCHIVE_JOB_ARCHIVE_H_
#define TRAINYARD_CONTROLLER_STORE_ARCHIVE_JOB_ARCHIVE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// The sort key of a job in a list: number, text, negative job id. The negative id sorts newer jobs
// first if number and text are equal.
using JobPlace = std::tuple<double, std::string, int64_t>;

// The number in the sort key of a job that lacks the value of the order, such as a loss.
inline constexpr double kUnknownKey = 1e300;

// Returns the sort key of a job with this progress in the given order (not reversed).
JobPlace PlaceOf(v1::JobOrder order, const v1::Job& job, const v1::Progress& progress);

// Returns the sort key of a job in the list that the request selects. Jobs that lack the value of
// the order are last in both directions.
JobPlace PlaceIn(const v1::ListJobsRequest& request, const v1::Job& job,
                 const v1::Progress& progress);

bool PassesFilters(const v1::ListJobsRequest& request, const v1::Job& job);

struct ArchivedPage {
  // In the order that the request selects.
  std::vector<v1::ArchivedJob> jobs;
  // The number of jobs that pass the request's filters, on all pages.
  int64_t total = 0;
};

struct ArchivedEnd {
  int64_t job_id = 0;
  int64_t ended_ms = 0;  // Unix time in milliseconds.
};

// Any thread may read. Only EventLog::Append changes the archive. Append adds jobs together with
// the event that removes them from the state, and removes jobs for which there is a JobDeleted
// event. DATA_LOSS: the record of a job is damaged.
class JobArchive {
 public:
  using Found = absl::StatusOr<std::optional<v1::ArchivedJob>>;

  virtual ~JobArchive() = default;

  // Returns true if the archive contains any job. Does not block.
  virtual bool HasJobs() const = 0;
  // Returns the number of jobs by state. Does not access the disk.
  virtual std::map<v1::JobState, int64_t> CountByState() const = 0;

  virtual Found Find(int64_t job_id) = 0;
  // Returns the newest job with this name.
  virtual Found FindByName(const std::string& name) = 0;
  virtual Found FindByRequestId(const std::string& request_id) = 0;

  // Returns the first `limit` jobs that pass the request's filters, in the request's order. If
  // `after` is set, starts after this sort key. Ignores the cursor and the limit in the request.
  virtual absl::StatusOr<ArchivedPage> List(const v1::ListJobsRequest& request,
                                            const std::optional<JobPlace>& after, int limit) = 0;

  // Calls `visit` for each job that ended at or after `since_ms`, with the job's time (JobTimeOf in
  // ledger.h), in descending order of end times. Keeps only one job in memory.
  virtual absl::Status ForEachTime(int64_t since_ms,
                                   const std::function<void(const v1::JobTime&)>& visit) = 0;

  // Returns at most `limit` jobs that ended at or before `ended_ms`, in ascending order of end
  // times.
  virtual absl::StatusOr<std::vector<ArchivedEnd>> EndedBy(int64_t ended_ms, int limit) = 0;
  // Returns the end times of the jobs in `job_ids`. Skips jobs that are not in the archive.
  virtual absl::StatusOr<std::vector<ArchivedEnd>> EndsOf(const std::vector<int64_t>& job_ids) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_ARCHIVE_JOB_ARCHIVE_H_
