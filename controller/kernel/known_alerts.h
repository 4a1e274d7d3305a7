// Alerts that are in the event log already. The state does not hold alerts, so a record that is
// received again must be recognised by the log.
#ifndef TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_
#define TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/kernel/worker_actions.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Newest `limit` committed events of the job, oldest first.
using ReadJobEvents =
    std::function<absl::StatusOr<std::vector<v1::Event>>(int64_t job_id, int limit)>;

class KnownAlerts {
 public:
  explicit KnownAlerts(ReadJobEvents read_events) : read_events_(std::move(read_events)) {}

  // Removes the batch's alerts that are in the log. Bytes that were not stored are sent again when
  // a worker attaches again; after a restart of the controller, in the first batch of the stream.
  // The log is read only then. An error of the log is returned, and nothing is removed.
  absl::Status Drop(v1::TelemetryBatch& batch);

 private:
  const ReadJobEvents read_events_;
  // Streams that sent telemetry since the start, each with the highest offset received.
  StreamOffsets received_until_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_
