#include "trainer/healing/snapshot_interval.h"

#include <algorithm>
#include <cmath>

namespace trainyard::trainer {
namespace {

// The weight of the latest snapshot in the mean cost. The weight is low, so that a single delay on
// a busy machine has little effect.
constexpr double kWeight = 0.2;

constexpr int64_t kLongest = 1000;

}  // namespace

void SnapshotInterval::Add(double cost) {
  cost_ = is_known_ ? cost_ + kWeight * (cost - cost_) : cost;
  is_known_ = true;
  Choose();
}

void SnapshotInterval::Set(double cost, bool is_known) {
  cost_ = cost;
  is_known_ = is_known;
  Choose();
}

void SnapshotInterval::Choose() {
  steps_ = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(cost_ / kShare)), 1, kLongest);
}

}  // namespace trainyard::trainer
