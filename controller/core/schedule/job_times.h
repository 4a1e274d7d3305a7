// Times by job, for passes that ask for the job of every node.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_JOB_TIMES_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_JOB_TIMES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "proto/support/clock.h"

namespace trainyard::controller {

// A hash table with open addressing for at most `jobs` jobs. Further jobs are not stored.
class JobTimes {
 public:
  explicit JobTimes(std::size_t jobs) : most_(jobs), table_(std::bit_ceil(2 * jobs + 2)) {}

  // Returns nullopt if the job has no time. The number of a job is above 0.
  std::optional<Timestamp> Find(int64_t job_id) const {
    const std::pair<int64_t, Timestamp>& found = table_[PlaceOf(job_id)];
    return found.first == job_id ? std::optional(found.second) : std::nullopt;
  }

  void Set(int64_t job_id, Timestamp time) {
    std::pair<int64_t, Timestamp>& found = table_[PlaceOf(job_id)];
    if (found.first != job_id) {
      if (size_ == most_) return;
      ++size_;
    }
    found = {job_id, time};
  }

 private:
  // Returns the place of the job, or the free place that it would get. At least half of the places
  // are free.
  std::size_t PlaceOf(int64_t job_id) const {
    const std::size_t mask = table_.size() - 1;
    // Most numbers are consecutive, so their lowest bits suffice as a hash.
    std::size_t place = static_cast<std::size_t>(job_id) & mask;
    while (table_[place].first != job_id && table_[place].first != 0) place = (place + 1) & mask;
    return place;
  }

  const std::size_t most_;
  std::size_t size_ = 0;
  // Jobs and their times. Job 0: the place is free.
  std::vector<std::pair<int64_t, Timestamp>> table_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_JOB_TIMES_H_
