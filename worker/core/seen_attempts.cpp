#include "worker/core/seen_attempts.h"

namespace trainyard::worker {

int64_t SeenAttempts::Of(int64_t job_id) const {
  const auto found = jobs_.find(job_id);
  return found == jobs_.end() ? 0 : found->second.attempt;
}

bool SeenAttempts::Raise(int64_t job_id, int64_t attempt) {
  if (attempt <= Of(job_id)) return false;
  Seen& seen = jobs_[job_id];
  by_age_.erase(seen.raised);
  seen = {attempt, ++raises_};
  by_age_[seen.raised] = job_id;
  if (jobs_.size() > max_jobs_) {
    jobs_.erase(by_age_.begin()->second);
    by_age_.erase(by_age_.begin());
  }
  return true;
}

std::vector<AttemptKey> SeenAttempts::OldestFirst() const {
  std::vector<AttemptKey> seen;
  seen.reserve(by_age_.size());
  for (const auto& [raised, job_id] : by_age_) seen.push_back({job_id, Of(job_id)});
  return seen;
}

}  // namespace trainyard::worker
