// The promises to the first heads of one queue, none of which a later job may delay.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_PROMISED_HEADS_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_PROMISED_HEADS_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/schedule/head_promise.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/schedule/slot_plan.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/job_class.h"
#include "controller/core/state/nodes/node_groups.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

class PromisedHeads {
 public:
  // `most`: the number of heads that are promised a time. `state` must outlive the object.
  PromisedHeads(const ClusterState& state, int most, Timestamp now)
      : state_(state), most_(most), now_(now), plan_(now) {}

  bool IsFull() const { return static_cast<int>(classes_.size()) >= most_; }
  // Adds the next head in order. `releases` is that of ReleasesForHead, with the slots of the gangs
  // that started before. Returns the promised time: kNever if the head never fits.
  Timestamp Add(const JobEntry& entry, Releases releases, const std::vector<NodeGroup>& groups);

  // The promise to the first head, which must have been added.
  const HeadPromise& first() const { return *first_; }
  const GangShape& first_shape() const { return shape_; }
  // The classes of the heads.
  const std::vector<JobClass>& classes() const { return classes_; }

  // Returns true if the gang of the job, which then holds its slots until `end`, delays no head.
  bool Allows(const Gang& gang, const JobEntry& job, Timestamp end) const;
  // Returns nodes that the gang of the job must not take if it holds them until `end`, except as
  // many nodes of `group` as the first head can spare (HeadPromise::NodesNotToTake).
  std::set<std::string> NodesNotToTake(const JobEntry& job, const NodeGroup& group,
                                       Timestamp end) const;
  // Takes the slots of the job's gang until `end`.
  void Take(const Gang& gang, const JobEntry& job, Timestamp end);

 private:
  const ClusterState& state_;
  const int most_;
  const Timestamp now_;
  std::optional<HeadPromise> first_;
  GangShape shape_;
  std::vector<JobClass> classes_;
  // All heads, if more than one can be promised a time.
  SlotPlan plan_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_PROMISED_HEADS_H_
