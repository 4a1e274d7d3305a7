// Steps between two snapshots, by what they cost. Pure, and the same on every rank.
#ifndef TRAINYARD_TRAINER_HEALING_SNAPSHOT_INTERVAL_H_
#define TRAINYARD_TRAINER_HEALING_SNAPSHOT_INTERVAL_H_

#include <cstdint>

namespace trainyard::trainer {

// As short as snapshots stay under kShare of the time of all steps.
class SnapshotInterval {
 public:
  static constexpr double kShare = 0.02;

  // A snapshot has delayed its step by this part of a step.
  void Add(double cost);

  int64_t steps() const { return steps_; }
  double cost() const { return cost_; }  // Mean of the newest snapshots; in steps.

  // Goes on from what another rank has.
  void Set(double cost, bool is_known);
  bool is_known() const { return is_known_; }

 private:
  void Choose();

  double cost_ = 0;
  bool is_known_ = false;  // Some snapshot was measured.
  int64_t steps_ = 1;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_SNAPSHOT_INTERVAL_H_
