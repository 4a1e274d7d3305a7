// Chooses the number of steps between snapshots from the cost of a snapshot. Pure. Every rank uses
// the same costs and therefore chooses the same number.
#ifndef TRAINYARD_TRAINER_HEALING_SNAPSHOT_INTERVAL_H_
#define TRAINYARD_TRAINER_HEALING_SNAPSHOT_INTERVAL_H_

#include <cstdint>

namespace trainyard::trainer {

// The interval between snapshots in steps: the shortest one for which snapshots take at most kShare
// of the total step time, but at most 1,000.
class SnapshotInterval {
 public:
  static constexpr double kShare = 0.02;

  // Adds the cost of one snapshot: the time by which it delayed its step, as a fraction of the step
  // time.
  void Add(double cost);

  int64_t steps() const { return steps_; }
  double cost() const { return cost_; }  // Mean cost of recent snapshots, in steps.

  // Adopts the values that another rank sent.
  void Set(double cost, bool is_known);
  bool is_known() const { return is_known_; }

 private:
  void Choose();

  double cost_ = 0;
  bool is_known_ = false;  // True once a snapshot has been measured.
  int64_t steps_ = 1;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_SNAPSHOT_INTERVAL_H_
