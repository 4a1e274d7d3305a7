// Waiting jobs in the order in which they get slots.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_JOB_QUEUE_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_JOB_QUEUE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The position of a job in the queue. Jobs with smaller keys are placed first. No other code
// defines the order of jobs.
struct QueueKey {
  int64_t job_id = 0;
  friend auto operator<=>(const QueueKey&, const QueueKey&) = default;
};

QueueKey QueueKeyOf(const v1::Job& job);

// A sorted list of keys. Jobs mostly join at the end and leave at the front, which takes constant
// time. A change in the middle moves all keys on the shorter side of the change.
class JobQueue {
 public:
  using value_type = QueueKey;
  using const_iterator = std::deque<QueueKey>::const_iterator;

  // The job must not already be in the queue. Before a job's key changes, the job must be removed.
  void Insert(const QueueKey& key);
  // Does nothing if the job is not in the queue.
  void Remove(const QueueKey& key);
  bool Contains(const QueueKey& key) const;
  // Returns the number of jobs with a smaller key. Takes O(log size()).
  std::size_t CountBefore(const QueueKey& key) const;

  std::size_t size() const { return keys_.size(); }
  bool empty() const { return keys_.empty(); }
  void clear() { keys_.clear(); }
  const_iterator begin() const { return keys_.begin(); }
  const_iterator end() const { return keys_.end(); }
  friend bool operator==(const JobQueue&, const JobQueue&) = default;

 private:
  std::deque<QueueKey> keys_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_JOB_QUEUE_H_
