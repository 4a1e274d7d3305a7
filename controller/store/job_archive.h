// Ended jobs that have left the state of the controller.
#ifndef TRAINYARD_CONTROLLER_STORE_JOB_ARCHIVE_H_
#define TRAINYARD_CONTROLLER_STORE_JOB_ARCHIVE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Key by which jobs are listed in an order; of equal keys the newest job comes first: number, text,
// negative job number.
using JobPlace = std::tuple<double, std::string, int64_t>;

// Place of a job with this progress in the order.
JobPlace PlaceOf(v1::JobOrder order, const v1::Job& job, const v1::Progress& progress);

// True when the job passes the filters of the request.
bool PassesFilters(const v1::ListJobsRequest& request, const v1::Job& job);

struct ArchivedPage {
  // In the order of the request.
  std::vector<v1::ArchivedJob> jobs;
  // Jobs that pass its filters, on all pages.
  int64_t total = 0;
};

struct ArchivedEnd {
  int64_t job_id = 0;
  int64_t ended_ms = 0;  // Unix time in milliseconds.
};

// Read by any thread. EventLog::Append adds jobs, with the event that takes them out of the state,
// and removes those that a JobDeleted names. DATA_LOSS: the record of a job is damaged.
class JobArchive {
 public:
  using Found = absl::StatusOr<std::optional<v1::ArchivedJob>>;

  virtual ~JobArchive() = default;

  // False when no job is in the archive. Does not block.
  virtual bool HasJobs() const = 0;
  // Number of jobs by state. Does not block on the disk.
  virtual std::map<v1::JobState, int64_t> CountByState() const = 0;

  virtual Found Find(int64_t job_id) = 0;
  // The newest job of the name.
  virtual Found FindByName(const std::string& name) = 0;
  virtual Found FindByRequestId(const std::string& request_id) = 0;

  // The first `limit` jobs that pass the filters of the request, in its order. With `after`, those
  // behind that place; cursor and limit of the request are not looked at.
  virtual absl::StatusOr<ArchivedPage> List(const v1::ListJobsRequest& request,
                                            const std::optional<JobPlace>& after, int limit) = 0;

  // Calls `visit` with the time (ledger.h, JobTimeOf) of each job that ended at `since_ms` or
  // later, newest end first. Holds one job in memory at a time.
  virtual absl::Status ForEachTime(int64_t since_ms,
                                   const std::function<void(const v1::JobTime&)>& visit) = 0;

  // Jobs that ended at this time or before, oldest end first, at most `limit`.
  virtual absl::StatusOr<std::vector<ArchivedEnd>> EndedBy(int64_t ended_ms, int limit) = 0;
  // Ends of those of the jobs that are in the archive.
  virtual absl::StatusOr<std::vector<ArchivedEnd>> EndsOf(const std::vector<int64_t>& job_ids) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_JOB_ARCHIVE_H_
