// Alerts that are in the event log already. The state does not hold alerts, so a record that is
// received again must be recognised by the log.
#ifndef TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_
#define TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/attempt_key.h"
#include "controller/store/stream_key.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Newest `limit` committed events of the job, oldest first.
using ReadJobEvents =
    std::function<absl::StatusOr<std::vector<v1::Event>>(int64_t job_id, int limit)>;

// An alert of a stream, by its step and code.
using AlertKey = std::tuple<StreamKey, int64_t, std::string>;

AlertKey AlertKeyOf(const v1::StreamId& stream, const v1::AlertRecord& alert);

// The log is read once for each attempt that raises alerts.
class KnownAlerts {
 public:
  explicit KnownAlerts(ReadJobEvents read_events) : read_events_(std::move(read_events)) {}

  // Removes the batch's alerts that are in the log: bytes that were received and not stored are
  // sent again. An error of the log is returned, and nothing is removed.
  absl::Status Drop(v1::TelemetryBatch& batch);

  // The alert is in the log now.
  void Add(const AlertKey& alert);

 private:
  // Step and code.
  using Alerts = std::set<std::pair<int64_t, std::string>>;

  // The attempt's alerts that were in the log when its first alert since the start was received.
  // The log does not tell their ranks.
  absl::StatusOr<const Alerts*> EarlierAlerts(const v1::StreamId& stream);

  const ReadJobEvents read_events_;
  std::map<AttemptKey, Alerts> earlier_;
  std::set<AlertKey> added_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_
