// Pairs ranks to keep copies of each other's state in host memory. Pure functions.
#ifndef TRAINYARD_TRAINER_HEALING_BUDDIES_H_
#define TRAINYARD_TRAINER_HEALING_BUDDIES_H_

#include <cstdint>
#include <vector>

#include "trainer/parallel/mesh.h"

namespace trainyard::trainer {

// Every rank has one buddy, which keeps a copy of its state, and one ward, whose copy it keeps.
// Buddies are neighbours at a fixed distance on a ring, on other nodes if possible.
class Buddies {
 public:
  // With plain data parallelism (zero 0) each ring consists of the ranks with equal parameters, so
  // that each copies its ward's state from its own device. Otherwise one ring has all ranks.
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

// Steps whose complete, confirmed states a rank has in host memory.
struct HeldSteps {
  std::vector<int64_t> own;
  std::vector<int64_t> ward;  // Steps of its ward's states.
};

// A state from which all ranks can continue, and the ranks that need it from their buddy.
struct RecoveryPlan {
  int64_t step = 0;
  std::vector<int64_t> receivers;
  int64_t first_holder = 0;  // Lowest rank with its own state of the step.
};

// Plans the recovery from the latest state that all ranks can continue from. held: by rank. If
// there is no such state, step is -1, and receivers are the ranks without a state whose buddies
// have no copy either.
RecoveryPlan PlanRecovery(const std::vector<HeldSteps>& held, const Buddies& buddies);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_BUDDIES_H_
