// The ranks that keep each other's state in host memory. Pure.
#ifndef TRAINYARD_TRAINER_HEALING_BUDDIES_H_
#define TRAINYARD_TRAINER_HEALING_BUDDIES_H_

#include <cstdint>
#include <vector>

#include "trainer/parallel/mesh.h"

namespace trainyard::trainer {

// Every rank has one buddy, which keeps a copy of its state, and is the buddy of one other rank,
// its ward. The buddy is on another node where there is one: neighbours at a fixed distance on a
// ring.
class Buddies {
 public:
  // With plain data parallelism (zero 0) a ring has the ranks with equal parameters, so that each
  // takes the copy of its ward from its own device; else it has all ranks.
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

// Steps of the states that a rank has in host memory, complete and found good.
struct HeldSteps {
  std::vector<int64_t> own;
  std::vector<int64_t> ward;  // Of its ward.
};

// A state that all ranks can go on from, and the ranks that need theirs from their buddy.
struct RecoveryPlan {
  int64_t step = 0;
  std::vector<int64_t> receivers;
  int64_t first_holder = 0;  // The first rank that has its own state of the step.
};

// The newest such state. held: by rank. step is -1 where the state of some rank is nowhere;
// receivers then are ranks that have no state and whose buddy has none of them.
RecoveryPlan PlanRecovery(const std::vector<HeldSteps>& held, const Buddies& buddies);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_BUDDIES_H_
