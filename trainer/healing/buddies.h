// Assigns to each rank a buddy, which keeps a copy of the rank's state in host memory. Pure
// functions.
#ifndef TRAINYARD_TRAINER_HEALING_BUDDIES_H_
#define TRAINYARD_TRAINER_HEALING_BUDDIES_H_

#include <cstdint>
#include <vector>

#include "trainer/parallel/mesh.h"

namespace trainyard::trainer {

// The buddy and the ward of every rank: the buddy keeps a copy of the rank's state, and the rank
// keeps a copy of its ward's state. A rank's buddy is at a fixed distance on a ring, on another
// node if possible.
class Buddies {
 public:
  // With plain data parallelism (zero 0, ep 1), each ring consists of the ranks with equal
  // parameters, so that each rank can copy its ward's state from its own device. Otherwise, one
  // ring contains all ranks.
  Buddies(const Mesh& mesh, const LayoutConfig& layout, int64_t local_world_size);

  int64_t BuddyOf(int64_t rank) const { return buddies_[rank]; }
  int64_t WardOf(int64_t rank) const { return wards_[rank]; }
  bool have_equal_parameters() const { return have_equal_parameters_; }
  int64_t size() const { return static_cast<int64_t>(buddies_.size()); }

 private:
  void AddRing(const std::vector<int64_t>& ranks, int64_t local_world_size);

  bool have_equal_parameters_ = false;
  std::vector<int64_t> buddies_;  // By rank.
  std::vector<int64_t> wards_;
};

// The steps for which a rank has complete, confirmed states in host memory.
struct HeldSteps {
  std::vector<int64_t> own;
  std::vector<int64_t> ward;  // Steps for which the rank has its ward's state.
};

// The state from which all ranks continue, and the ranks that must receive it from their buddies.
struct RecoveryPlan {
  int64_t step = 0;
  std::vector<int64_t> receivers;
  int64_t first_holder = 0;  // Lowest rank that has its own state after the step.
};

// Plans the recovery from the latest state from which all ranks can continue. `held` is indexed by
// rank. If there is no such state, `step` is -1, and `receivers` are the ranks whose state is lost:
// neither the rank nor its buddy has a state of the rank.
RecoveryPlan PlanRecovery(const std::vector<HeldSteps>& held, const Buddies& buddies);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_BUDDIES_H_
