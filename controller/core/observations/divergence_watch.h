// Detects a gang whose newest metrics are not finite.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DIVERGENCE_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DIVERGENCE_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "proto/support/clock.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

inline constexpr int kNormsInARow = 3;

class DivergenceWatch {
 public:
  struct Divergence {
    std::string metric;  // The name of the metric that is not finite, such as "loss".
    // The first step of the consecutive steps whose metrics are not finite.
    int64_t since_step = 0;
    Timestamp since_ms = 0;
  };

  // Judges one record of the reporting rank, written at `time`. A loss that is not finite is a
  // divergence at once. A gradient norm must be infinite or NaN in kNormsInARow records, because
  // dynamic loss scaling skips single steps with such a norm. The same applies to a count of NaN
  // iterations that has grown, because the loss in such a record is the mean of the other
  // iterations. A record with none of these metrics changes nothing.
  void Add(const v1::MetricsRecord& metrics, Timestamp time);

  // Adjusts to a step of the controller's clock by `step_ms`.
  void Shift(int64_t step_ms);

  // nullopt while the newest metrics are finite.
  const std::optional<Divergence>& divergence() const { return divergence_; }

 private:
  // Returns true if the record counts NaN iterations that earlier records did not.
  bool CountsNans(const v1::MetricsRecord& metrics);

  double nan_iterations_ = 0;
  // The newest records without a finite loss and gradient norm, and the first of them.
  int in_a_row_ = 0;
  Divergence first_;
  std::optional<Divergence> divergence_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DIVERGENCE_WATCH_H_
