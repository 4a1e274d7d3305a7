// Remembers the attempts that this node has received. A late command for an old attempt is then
// recognized even if the attempt's folder is gone.
#ifndef TRAINYARD_WORKER_CORE_SEEN_ATTEMPTS_H_
#define TRAINYARD_WORKER_CORE_SEEN_ATTEMPTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "proto/contract/attempt_key.h"

namespace trainyard::worker {

// The highest attempt number of each job. The number of jobs is limited. The job with the oldest
// raise of its number is dropped first. Dropping a job is safe if the node has no data of the job
// and will receive no further commands for it.
class SeenAttempts {
 public:
  // This many jobs use about 8 MB of memory in AttemptNumberLog, 8 MB of memory in Attempts, and 2
  // MB on disk.
  static constexpr std::size_t kMaxJobs = 65'536;

  SeenAttempts() = default;
  explicit SeenAttempts(std::size_t max_jobs) : max_jobs_(max_jobs) {}

  // Returns the job's highest attempt number; 0 if the job is unknown.
  int64_t Of(int64_t job_id) const;

  // Raises the job's number. Returns false and changes nothing if this number or a higher one is
  // already known.
  bool Raise(int64_t job_id, int64_t attempt);

  // Returns the highest attempt of each job. The job whose number was not raised for the longest
  // time comes first.
  std::vector<AttemptKey> OldestFirst() const;

  std::size_t size() const { return jobs_.size(); }
  std::size_t max_jobs() const { return max_jobs_; }

 private:
  struct Seen {
    int64_t attempt = 0;
    // Key in by_age_.
    uint64_t raised = 0;
  };

  std::size_t max_jobs_ = kMaxJobs;
  uint64_t raises_ = 0;
  std::map<int64_t, Seen> jobs_;
  std::map<uint64_t, int64_t> by_age_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_SEEN_ATTEMPTS_H_
