// Reads metrics from the events of TensorBoard files.
#ifndef TRAINYARD_PROTO_PARSERS_TENSORBOARD_METRICS_H_
#define TRAINYARD_PROTO_PARSERS_TENSORBOARD_METRICS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/v1/telemetry.pb.h"

namespace trainyard {

// The metrics of one step from one file.
struct TensorboardStep {
  v1::MetricsRecord metrics;
  int64_t time_ms = 0;  // Unix time of the first event of the step.
};

// The complete steps at the beginning of the new bytes of a file.
struct TensorboardSteps {
  std::vector<TensorboardStep> steps;
  uint64_t bytes = 0;  // Bytes up to the end of the last of these steps. May exceed the new bytes.
  // Description of damaged bytes behind these steps; empty if there are none.
  std::string damage;
};

// Reads untrusted bytes of a file, from the beginning of a record. Programs write one event per
// metric, so a step is complete when an event of another step follows. If `idle` is true, the
// program has not written for a while, and the last step counts as complete, too. Only numbers are
// read. Tags become names of metrics as in log parsers: "train/loss" is the loss, "eval/loss" the
// loss on the evaluation set val.
TensorboardSteps ReadTensorboardSteps(std::string_view bytes, bool idle);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_TENSORBOARD_METRICS_H_
