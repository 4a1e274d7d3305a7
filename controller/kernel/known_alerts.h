// Alerts that are already in the event log. The state contains no alerts, so the log is needed to
// detect that an alert arrives again.
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

// Returns the newest `limit` committed events of the job, oldest first.
using ReadJobEvents =
    std::function<absl::StatusOr<std::vector<v1::Event>>(int64_t job_id, int limit)>;

// Identifies an alert by stream, step and code.
using AlertKey = std::tuple<StreamKey, int64_t, std::string>;

AlertKey AlertKeyOf(const StreamKey& stream, const v1::AlertRecord& alert);

// Step and code of each logged alert, by attempt. The log does not contain the ranks of alerts.
using LoggedAlerts = std::map<AttemptKey, std::set<std::pair<int64_t, std::string>>>;

// Reads the alerts of the attempts from the log. Takes milliseconds per job, so it must run on a
// thread that may wait for the disk. Omits attempts of jobs that cannot be read.
LoggedAlerts ReadLoggedAlerts(const std::vector<AttemptKey>& attempts, const ReadJobEvents& read);

// The alerts of attempts, in two parts. Alerts that earlier controller processes committed are
// loaded from the log once per attempt. Alerts that this process commits are added one by one.
class KnownAlerts {
 public:
  // Returns true if Load was called for the attempt.
  bool IsLoaded(const AttemptKey& attempt) const { return logged_.contains(attempt); }
  void Load(LoggedAlerts alerts);

  // Removes from the batch the alerts that are already in the log. Such alerts arrive again if the
  // controller committed them but did not store their bytes.
  void Drop(v1::TelemetryBatch& batch) const;

  // Call when the alert has been committed to the log.
  void Add(const AlertKey& alert);

 private:
  LoggedAlerts logged_;
  std::set<AlertKey> added_;
  std::deque<AlertKey> added_in_order_;  // Oldest first. The oldest are removed first.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_
