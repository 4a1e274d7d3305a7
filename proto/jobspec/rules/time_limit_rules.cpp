#include "proto/jobspec/rules/time_limit_rules.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

void RequireTimeLimit(const char* key, Problems& problems) {
  problems.push_back({key, absl::StrCat("`", key,
                                        "` needs `time_limit`, such as `time_limit: "
                                        "12h`; add it, or remove `",
                                        key, "`")});
}

double SecondsOf(const google::protobuf::Duration& duration) {
  return static_cast<double>(duration.seconds()) + duration.nanos() / 1e9;
}

}  // namespace

void CheckTimeLimit(const v1::JobSpec& spec, Problems& problems) {
  if (!spec.has_time_limit()) {
    if (spec.has_time_limit_signal()) RequireTimeLimit("time_limit_signal", problems);
    if (spec.has_time_limit_warning()) RequireTimeLimit("time_limit_warning", problems);
    if (spec.has_at_time_limit()) RequireTimeLimit("at_time_limit", problems);
    return;
  }
  if (!spec.has_time_limit_signal()) {
    if (!spec.has_time_limit_warning()) return;
    problems.push_back({"time_limit_warning",
                        "`time_limit_warning` has no effect without `time_limit_signal`; add "
                        "`time_limit_signal: USR1` if the program handles SIGUSR1, or remove "
                        "`time_limit_warning`"});
    return;
  }
  const double warning =
      spec.has_time_limit_warning() ? SecondsOf(spec.time_limit_warning()) : kDefaultWarningSeconds;
  const double limit = SecondsOf(spec.time_limit());
  if (warning < limit) return;
  problems.push_back(
      {"time_limit_warning",
       absl::StrCat("`time_limit_warning` is ", warning, "s",
                    spec.has_time_limit_warning() ? "" : " by default",
                    ", but must be shorter than `time_limit`, which is ", limit, "s")});
}

}  // namespace trainyard
