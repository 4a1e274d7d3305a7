// Number of steps between snapshots, chosen by their cost. Pure, and the same on every rank.
#ifndef TRAINYARD_TRAINER_HEALING_SNAPSHOT_INTERVAL_H_
#define TRAINYARD_TRAINER_HEALING_SNAPSHOT_INTERVAL_H_

#include <cstdint>

namespace trainyard::trainer {

// The shortest interval at which snapshots take less than kShare of the time of all steps.
class SnapshotInterval {
 public:
  static constexpr double kShare = 0.02;

  // Adds the cost of a snapshot: the delay of its step, as a fraction of a step.
  void Add(double cost);

  int64_t steps() const { return steps_; }
  double cost() const { return cost_; }  // Mean over recent snapshots, in steps.

  // Adopts the values of another rank.
  void Set(double cost, bool is_known);
  bool is_known() const { return is_known_; }

 private:
  void Choose();

  double cost_ = 0;
  bool is_known_ = false;  // A snapshot was measured.
  int64_t steps_ = 1;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_SNAPSHOT_INTERVAL_H_
