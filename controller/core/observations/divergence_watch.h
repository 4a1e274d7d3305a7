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

  // Judges one record of the reporting rank, written at `time`. One loss that is not finite is a
  // divergence. A gradient norm must be infinite or NaN in kNormsInARow consecutive records,
  // because dynamic loss scaling skips single steps with such a norm. A record that counts new NaN
  // iterations is treated like such a norm: its loss is the mean of the other iterations, so the
  // loss looks finite. A record with none of these metrics changes nothing.
  void Add(const v1::MetricsRecord& metrics, Timestamp time);

  // Adds the loss guard's judgement of `step`: the number of consecutive spikes up to the loss of
  // this step (loss_watch.h). Add must be called with the same record first.
  void AddSpikes(int64_t spikes_in_a_row, int64_t step);

  // Adjusts to a step of the controller's clock by `step_ms`.
  void Shift(int64_t step_ms);

  // nullopt while the newest metrics are finite and the loss does not spike.
  std::optional<Divergence> divergence() const;

  // The time for which the gang has trained while it was diverging.
  const LostPeriods& lost() const { return lost_; }

 private:
  // If the gang was diverging, counts the time since the newest record as lost, without the wait
  // for data. A gap of more than three times the previous gap, such as a stall, counts as three
  // times the previous gap, but at least 5 s.
  void Advance(Timestamp time, int64_t data_wait_ms);
  void JudgeMetrics(const v1::MetricsRecord& metrics, Timestamp time);
  // Returns true if the record counts NaN iterations that earlier records did not.
  bool CountsNans(const v1::MetricsRecord& metrics);

  double nan_iterations_ = 0;
  // The number of newest consecutive records without a finite loss and gradient norm, and the first
  // of these records.
  int in_a_row_ = 0;
  Divergence first_;
  std::optional<Divergence> not_finite_;
  // The first of the newest consecutive spikes. The gang is diverging after kSpikesInARow spikes.
  std::optional<Divergence> spiking_;
  bool spikes_persist_ = false;
  // The time of the newest record, and the milliseconds between the two newest records.
  Timestamp newest_ms_ = 0;
  int64_t gap_ms_ = 0;
  LostPeriods lost_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DIVERGENCE_WATCH_H_
