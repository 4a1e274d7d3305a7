// Alerts that are in the event log already. The state does not hold alerts, so a record that is
// received again must be recognised by the log.
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
#include "controller/core/support/attempt_key.h"
#include "controller/store/stream_key.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Newest `limit` committed events of the job, oldest first.
using ReadJobEvents =
    std::function<absl::StatusOr<std::vector<v1::Event>>(int64_t job_id, int limit)>;

// An alert of a stream, by its step and code.
using AlertKey = std::tuple<StreamKey, int64_t, std::string>;

AlertKey AlertKeyOf(const StreamKey& stream, const v1::AlertRecord& alert);

// Step and code of each alert of an attempt that is in the log. The log does not tell their ranks.
using LoggedAlerts = std::map<AttemptKey, std::set<std::pair<int64_t, std::string>>>;

// Reads the alerts of the attempts from the log. It takes milliseconds a job: a thread that may
// wait for the disk calls it. An attempt whose job cannot be read is left out.
LoggedAlerts ReadLoggedAlerts(const std::vector<AttemptKey>& attempts, const ReadJobEvents& read);

// Alerts that an earlier process committed come from the log, once for each attempt; those of this
// process are added.
class KnownAlerts {
 public:
  // True once the alerts that an earlier process committed are known.
  bool IsLoaded(const AttemptKey& attempt) const { return logged_.contains(attempt); }
  void Load(LoggedAlerts alerts);

  // Removes the batch's alerts that are in the log: bytes that were received and not stored are
  // sent again.
  void Drop(v1::TelemetryBatch& batch) const;

  // The alert is in the log now.
  void Add(const AlertKey& alert);

 private:
  LoggedAlerts logged_;
  std::set<AlertKey> added_;
  std::deque<AlertKey> added_in_order_;  // Oldest first: the first to be forgotten.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_KNOWN_ALERTS_H_
