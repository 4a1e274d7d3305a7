// The limits of queues during one pass over the waiting jobs.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_QUOTA_PASS_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_QUOTA_PASS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/state/cluster_state.h"
#include "controller/core/state/job_class.h"

namespace trainyard::controller {

class QuotaPass {
 public:
  // `state` must outlive the pass.
  explicit QuotaPass(const ClusterState& state);

  // Returns true if the queue and the user may hold the slots of one more job of the class.
  bool Allows(const JobClass& job_class) const;
  // Like Allows, but the limits must also suffice for one job of each of the other classes later.
  bool AllowsBeside(const JobClass& job_class, const std::vector<JobClass>& others) const;
  // From now on, RestFor leaves what the limits must keep for one job of each of these classes.
  void KeepFor(const std::vector<JobClass>& heads) { heads_ = heads; }
  // Returns the slots that the limits allow a job of the class, beyond those that it holds; nullopt
  // without a limit.
  std::optional<int64_t> RestFor(const JobClass& job_class) const;
  // Counts the slots that the pass gives to a job of the class.
  void Take(const JobClass& job_class, int64_t slots);
  // Closes the limits that stop a job of the class: until the end of the pass, no other job that
  // counts towards them starts. Without this, small jobs could keep a large job of their queue
  // waiting forever. Recovering jobs are exempt, because they claim their slots already.
  void CloseFor(const JobClass& job_class);
  // Returns true if only a closed limit stops jobs of the class.
  bool IsClosedFor(const JobClass& job_class) const;

 private:
  // The limits of a queue for one kind of slots, for all its jobs and for those of one user. 0: no
  // limit.
  struct SlotLimits {
    int64_t of_queue = 0;
    int64_t of_user = 0;
  };

  const SlotLimits& LimitsOf(const JobClass& job_class) const;
  // Calls `accepts` with the key and the limit of the queue, and with those of the user. Returns
  // false if one is not accepted. A limit of 0 is none.
  template <typename Accepts>
  bool Check(const JobClass& job_class, const Accepts& accepts) const;
  bool Fits(const JobClass& job_class, const UsageKey& key, int64_t limit) const;
  // Returns the slots that jobs of this queue or user hold, and those that recovering jobs lack.
  int64_t Claimed(const UsageKey& key) const;

  const ClusterState& state_;
  // Slots of each queue and user that its jobs do not hold yet: those that recovering jobs lack,
  // and those that this pass has given to other jobs.
  std::map<UsageKey, int64_t> claimed_;
  std::set<UsageKey> closed_;
  std::vector<JobClass> heads_;
  // The limits of the queues with settings. A pass asks for them for each class.
  std::map<v1::DeviceKind, std::map<std::string, SlotLimits>> limits_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_QUOTA_PASS_H_
