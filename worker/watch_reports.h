// Reports about the files of a program that the worker watches: each text once, in the log and as
// an alert in the telemetry of a rank.
#ifndef TRAINYARD_WORKER_WATCH_REPORTS_H_
#define TRAINYARD_WORKER_WATCH_REPORTS_H_

#include <set>
#include <string>
#include <utility>

#include "proto/support/guarded_path.h"
#include "worker/core/watched_checkpoints.h"

namespace trainyard::worker {

// Used by one thread at a time.
class WatchReports {
 public:
  // Maximum number of different texts, so that a directory in a bad state cannot fill the
  // telemetry.
  static constexpr std::size_t kMostTexts = 20;

  // `name` is the name of the attempt, for the log. `code` is the code of the alerts.
  WatchReports(std::string name, std::string code, GuardedPath telemetry)
      : name_(std::move(name)), code_(std::move(code)), telemetry_(std::move(telemetry)) {}

  // If the text was not reported before, logs it and appends an alert. The next call repeats a
  // failed append.
  void Report(const std::string& text, WatchLook look);
  // Returns true for the first call with this text, unless the maximum is reached.
  bool IsNew(const std::string& text);

 private:
  const std::string name_;
  const std::string code_;
  const GuardedPath telemetry_;
  std::set<std::string> reported_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_WATCH_REPORTS_H_
