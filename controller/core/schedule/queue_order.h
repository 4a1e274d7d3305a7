// The order in which waiting jobs get slots of one kind.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_QUEUE_ORDER_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_QUEUE_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "controller/core/state/cluster_state.h"
#include "controller/core/state/job_class.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// The rank of a class among the classes of its kind. Classes of equal rank are ordered by the
// numbers of their jobs. For elements of an array, the number of the array decides first.
struct ClassRank {
  const JobClass* job_class = nullptr;
  const std::set<int64_t>* jobs = nullptr;
  int rank = 0;
  // The position among the waiting classes of the kind, in the order of JobClass.
  std::size_t position = 0;
};

// Returns the classes of waiting jobs of one kind, lowest rank first. The rank is decided by, in
// this order:
// 1. jobs that keep slots while they wait (reservations), so that those slots are idle for a short
//    time only, and jobs for which others were preempted;
// 2. the tier of the queue, greatest first;
// 3. the priority, greatest first;
// 4. queues within their nominal slots before those that borrow;
// 5. the queue's decayed slot time divided by its shares, least first;
// 6. the user's decayed slot time in the queue, least first.
std::vector<ClassRank> RankClasses(const ClusterState& state, v1::DeviceKind kind, Timestamp now);

// Returns the numbers of all waiting jobs of one kind in their order.
std::vector<int64_t> JobsInOrder(const ClusterState& state, v1::DeviceKind kind, Timestamp now);

// Returns the number of waiting jobs of its kind that precede the job, which need not be in the
// state. `counts`: asked for each job that is alone in its class; nullptr: all of them count.
int64_t CountBefore(const ClusterState& state, const v1::Job& job, Timestamp now,
                    const std::function<bool(int64_t job_id)>& counts = nullptr);

// Walks through the jobs of ranked classes in order. A class can be closed, so that the rest of its
// jobs is skipped.
class OrderedJobs {
 public:
  explicit OrderedJobs(const std::vector<ClassRank>& classes);

  struct Next {
    int64_t job_id = 0;
    const ClassRank* place = nullptr;
  };
  bool empty() const { return heap_.empty(); }
  const Next& front() const { return heap_.front(); }
  // Moves on to the next job of the front job's class.
  void Advance();
  // Skips all other jobs of the front job's class.
  void CloseClass();
  // Returns the next job of each open class and closes all classes. The jobs of the classes with
  // the shortest hold are first, those without a known hold last. Equal holds are in order.
  std::vector<Next> TakeShortestFirst();

 private:
  struct Later {
    bool operator()(const Next& a, const Next& b) const;
  };
  std::vector<Next> heap_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_QUEUE_ORDER_H_
