#include "controller/core/decide/left_out.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/support/controller_event.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kShownMs = 300'000;

constexpr char kNextStep[] =
    "save checkpoints less often (checkpoint.every_steps), or raise fewer alerts; all checkpoints "
    "stay on disk";

// Returns, for example, "12 checkpoint records and 3 alerts".
std::string CountText(int64_t checkpoints, int64_t alerts) {
  std::string text;
  if (checkpoints > 0) absl::StrAppend(&text, checkpoints, " checkpoint records");
  if (checkpoints > 0 && alerts > 0) absl::StrAppend(&text, " and ");
  if (alerts > 0) absl::StrAppend(&text, alerts, " alerts");
  return text;
}

std::string LimitText() {
  return absl::StrCat("a job may record at most ", kJobEventsPerMinute, " checkpoint events and ",
                      kJobEventsPerMinute, " alerts per minute, and at most ", kJobEventsAtOnce,
                      " of each in a burst; the newest checkpoint is always recorded");
}

}  // namespace

std::vector<v1::Event> DecideLeftOut(const ClusterState& state, const ReportLeftOut& report,
                                     Timestamp now) {
  const bool is_known =
      FindEntry(state, report.job_id) != nullptr || IsArchived(state, report.job_id);
  if (!is_known) return {};
  v1::Event event = ControllerEvent(now);
  v1::AlertRaised& alert = *event.mutable_alert_raised();
  alert.set_job_id(report.job_id);
  alert.set_attempt(report.attempt);
  alert.set_step(report.step);
  alert.set_code(kRecordsLeftOut);
  alert.set_message(absl::StrCat(CountText(report.checkpoints, report.alerts),
                                 " were not recorded, because ", LimitText(), "; ", kNextStep));
  return {std::move(event)};
}

std::optional<planner::Finding> LeftOutFinding(const Observations& observations, int64_t job_id,
                                               Timestamp now) {
  const auto found = observations.left_out.find(job_id);
  if (found == observations.left_out.end()) return std::nullopt;
  const LeftOutRecords& records = found->second;
  if (now < records.newest_ms || now - records.newest_ms > kShownMs) return std::nullopt;
  return planner::Finding{
      .what = absl::StrCat(CountText(records.checkpoints, records.alerts), " were not recorded"),
      .why = LimitText(),
      .right = kNextStep};
}

}  // namespace trainyard::controller
