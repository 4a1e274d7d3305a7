// Alerts that are already in the event log. The state has no alerts, so a record received twice
// must be recognised with the help of the log.
#ifndef TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_
#define TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/support/stream_key.h"
#include "proto/contract/attempt_key.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Newest `limit` committed events of the job, oldest first.
using ReadJobEvents =
    std::function<absl::StatusOr<std::vector<v1::Event>>(int64_t job_id, int limit)>;

// Identifies an alert: stream, step, code.
using AlertKey = std::tuple<StreamKey, int64_t, std::string>;

AlertKey AlertKeyOf(const StreamKey& stream, const v1::AlertRecord& alert);

// Step and code of each logged alert of an attempt. The log does not contain their ranks.
using LoggedAlerts = std::map<AttemptKey, std::set<std::pair<int64_t, std::string>>>;

// Reads the alerts of the attempts from the log. Takes milliseconds per job, so it must run on a
// thread that may wait for the disk. Attempts of unreadable jobs are omitted.
LoggedAlerts ReadLoggedAlerts(const std::vector<AttemptKey>& attempts, const ReadJobEvents& read);

// Alerts committed by earlier processes are loaded from the log once per attempt; alerts of this
// process are added.
class KnownAlerts {
 public:
  // True once the alerts committed by earlier processes are loaded.
  bool IsLoaded(const AttemptKey& attempt) const { return logged_.contains(attempt); }
  void Load(LoggedAlerts alerts);

  // Removes the batch's alerts that are already in the log: bytes that the controller received but
  // did not store are sent again.
  void Drop(v1::TelemetryBatch& batch) const;

  // Call when the alert is in the log.
  void Add(const AlertKey& alert);

 private:
  LoggedAlerts logged_;
  std::set<AlertKey> added_;
  std::deque<AlertKey> added_in_order_;  // Oldest first; the oldest is forgotten first.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_
