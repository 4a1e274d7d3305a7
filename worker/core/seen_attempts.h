// All attempts this node has received, so that a late command for an old one is recognised after
// its folder is gone.
#ifndef TRAINYARD_WORKER_CORE_SEEN_ATTEMPTS_H_
#define TRAINYARD_WORKER_CORE_SEEN_ATTEMPTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "proto/contract/attempt_key.h"

namespace trainyard::worker {

// Highest attempt number of each job. Bounded: the least recently raised job is dropped first.
// Dropping a job is safe if the node has no data of it and no command for it can still arrive.
class SeenAttempts {
 public:
  // About 8 MB of memory in AttemptNumberLog, as much in Attempts, and 2 MB on disk.
  static constexpr std::size_t kMaxJobs = 65'536;

  SeenAttempts() = default;
  explicit SeenAttempts(std::size_t max_jobs) : max_jobs_(max_jobs) {}

  // 0 for an unknown job.
  int64_t Of(int64_t job_id) const;

  // Returns false and changes nothing when this number or a higher one is known.
  bool Raise(int64_t job_id, int64_t attempt);

  // Highest attempt of each job, least recently raised first.
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
