#include "cli/dev/daemon.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr int kShownLogLines = 12;

}  // namespace

absl::StatusOr<Daemon> Daemon::Start(Launch launch, const RestartLimits& limits, TimePoint now) {
  TRAINYARD_ASSIGN_OR_RETURN(ChildProcess process, launch());
  return Daemon(std::move(launch), limits, std::move(process), now);
}

absl::Status Daemon::CheckAlive() {
  const std::optional<std::string> ended = process_.Ended();
  if (!ended.has_value()) return absl::OkStatus();
  const std::string tail = LastLines(process_.log_path(), kShownLogLines);
  return absl::InternalError(absl::StrCat(process_.name(), " ", *ended,
                                          tail.empty() ? "" : "; last lines:\n", tail,
                                          "\nfull log: ", process_.log_path()));
}

absl::StatusOr<std::string> Daemon::Keep(TimePoint now) {
  if (!restart_at_.has_value()) {
    return process_.Ended().has_value() ? HandleExit(now) : absl::StatusOr<std::string>("");
  }
  if (now < *restart_at_) return "";
  TRAINYARD_ASSIGN_OR_RETURN(process_, launch_());
  restart_at_.reset();
  started_ = now;
  return absl::StrCat(process_.name(), " restarted, pid ", process_.pid());
}

absl::StatusOr<std::string> Daemon::HandleExit(TimePoint now) {
  const std::optional<milliseconds> pause =
      backoff_.PauseAfter(duration_cast<milliseconds>(now - started_));
  if (!pause.has_value()) return CheckAlive();
  restart_at_ = now + *pause;
  return absl::StrFormat("%s %s; restarting it in %.2g s", process_.name(), *process_.Ended(),
                         static_cast<double>(pause->count()) / 1000);
}

}  // namespace trainyard::cli
