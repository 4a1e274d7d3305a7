// Why jobs were not placed in a pass over the queue.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_REFUSALS_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_REFUSALS_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "controller/core/state/job_class.h"

namespace trainyard::controller {

// Why the first waiting job of a class was not placed in a pass.
enum class Refusal {
  // The class has the head of its queue.
  kHead,
  // Not enough slots are free.
  kSlots,
  // Slots are free, but the job would delay the head.
  kDelaysHead,
  // The job's queue or user would exceed a limit of the queue.
  kQuota,
  // A limit of the job's queue is closed: the rest of it is kept for an earlier job.
  kClosedQuota,
  // The pass ended before the class, because it placed as many jobs as it may.
  kNextPass,
};

// The refusals of a pass by class. A sorted list instead of a map, because a pass refuses most of
// the waiting classes.
class Refusals {
 public:
  // Adds the refusal of a class, which must be greater than all classes in the list.
  void Add(const JobClass& job_class, Refusal refusal) { items_.emplace_back(job_class, refusal); }
  void Reserve(std::size_t classes) { items_.reserve(classes); }
  // Returns nullopt if the class was not refused.
  std::optional<Refusal> Find(const JobClass& job_class) const;
  std::size_t size() const { return items_.size(); }

 private:
  std::vector<std::pair<JobClass, Refusal>> items_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_REFUSALS_H_
