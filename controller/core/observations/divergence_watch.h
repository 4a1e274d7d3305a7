// Detects a gang whose newest metrics are not finite, or whose loss stays far above its earlier
// level.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DIVERGENCE_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DIVERGENCE_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/observations/lost_periods.h"
#include "proto/support/clock.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

inline constexpr int kNormsInARow = 3;
// The loss usually recovers after a single spike. This many consecutive spikes are a divergence.
inline constexpr int64_t kSpikesInARow = 10;

class DivergenceWatch {
 public:
  struct Divergence {
    // The name of the metric that is not finite, such as "loss". Empty if the loss is finite, but
    // spikes.
    std::string metric;
    // The first of the consecutive bad steps.
    int64_t since_step = 0;
    Timestamp since_ms = 0;
  };

  // Judges one record of the reporting rank, written at `time`. A loss that is not finite is a
  // divergence at once. A gradient norm must be infinite or NaN in kNormsInARow records, because
  // dynamic loss scaling skips single steps with such a norm. The same applies to a count of NaN
  // iterations that has grown, because the loss in such a record is the mean of the other
  // iterations. A record with none of these metrics changes nothing.
  void Add(const v1::MetricsRecord& metrics, Timestamp time);

  // Adds the verdict of the loss guard's rules on the loss of `step`: the number of consecutive
  // losses, up to this one, that are spikes (loss_watch.h). Add must be called with the same record
  // first.
  void AddSpikes(int64_t spikes_in_a_row, int64_t step);

  // Adjusts to a step of the controller's clock by `step_ms`.
  void Shift(int64_t step_ms);

  // nullopt while the newest metrics are finite and the loss does not spike.
  std::optional<Divergence> divergence() const;

  // The time for which the gang has trained while it was diverging.
  const LostPeriods& lost() const { return lost_; }

 private:
  // Counts the time since the newest record as lost if the gang was diverging, except for the wait
  // for data. A pause, as for a stall, counts as three of the times between records.
  void Advance(Timestamp time, int64_t data_wait_ms);
  void JudgeMetrics(const v1::MetricsRecord& metrics, Timestamp time);
  // Returns true if the record counts NaN iterations that earlier records did not.
  bool CountsNans(const v1::MetricsRecord& metrics);

  double nan_iterations_ = 0;
  // The number of newest records without a finite loss and gradient norm, and the first of them.
  int in_a_row_ = 0;
  Divergence first_;
  std::optional<Divergence> not_finite_;
  // The newest consecutive spikes, from the first. The loss is diverging after kSpikesInARow.
  std::optional<Divergence> spiking_;
  bool spikes_persist_ = false;
  // The time of the newest record, and the milliseconds between it and the record before.
  Timestamp newest_ms_ = 0;
  int64_t gap_ms_ = 0;
  LostPeriods lost_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DIVERGENCE_WATCH_H_
