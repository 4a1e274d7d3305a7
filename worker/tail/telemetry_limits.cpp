#include "worker/tail/telemetry_limits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace trainyard::worker {
namespace {

void AddAlert(const std::string& code, const std::string& message, v1::TelemetryBatch& batch) {
  const int64_t time_ms =
      batch.records().empty() ? 0 : batch.records(batch.records_size() - 1).time_ms();
  v1::TelemetryRecord& record = *batch.add_records();
  record.set_time_ms(time_ms);
  record.mutable_alert()->set_code(code);
  record.mutable_alert()->set_message(message);
}

}  // namespace

void TelemetryLimits::LimitSeries(v1::TelemetryBatch& batch) {
  bool dropped = false;
  for (v1::TelemetryRecord& record : *batch.mutable_records()) {
    if (!record.has_metrics()) continue;
    auto& values = *record.mutable_metrics()->mutable_values();
    for (auto value = values.begin(); value != values.end();) {
      if (series_.contains(value->first)) {
        ++value;
      } else if (series_.size() < kMaxSeriesOfRank) {
        series_.insert(value->first);
        ++value;
      } else {
        dropped = true;
        value = values.erase(value);
      }
    }
  }
  if (!dropped || batch.begin_offset() > series_alert_at_) return;
  series_alert_at_ = batch.begin_offset();
  AddAlert("too_many_metrics",
           absl::StrCat("the rank writes more than ", kMaxSeriesOfRank,
                        " different metrics, so its further metrics are dropped. Do not put the "
                        "number of a step or sample into the name of a metric"),
           batch);
}

void TelemetryLimits::LimitAlerts(v1::TelemetryBatch& batch) {
  const auto is_alert = [](const v1::TelemetryRecord& record) { return record.has_alert(); };
  auto& records = *batch.mutable_records();
  // A batch that is read again may be longer than before. Replace its old count with a new count.
  alerts_until_.erase(alerts_until_.upper_bound(batch.begin_offset()), alerts_until_.end());
  const int before = alerts_until_.empty() ? 0 : alerts_until_.rbegin()->second;
  if (before > kMaxAlertsOfRank) {
    records.erase(std::remove_if(records.begin(), records.end(), is_alert), records.end());
    return;
  }
  const int alerts = static_cast<int>(std::count_if(records.begin(), records.end(), is_alert));
  if (alerts == 0) return;
  alerts_until_[batch.end_offset()] = before + alerts;
  if (before + alerts <= kMaxAlertsOfRank) return;
  AddAlert("too_many_alerts",
           absl::StrCat("the rank has raised more than ", kMaxAlertsOfRank,
                        " alerts, so its further alerts are dropped"),
           batch);
}

void TelemetryLimits::ReportBadLine(v1::TelemetryBatch& batch) {
  if (batch.bad_line().empty() || batch.begin_offset() > bad_line_alert_at_) return;
  bad_line_alert_at_ = batch.begin_offset();
  AddAlert("bad_telemetry",
           absl::StrCat("telemetry that cannot be read is dropped: ", batch.bad_line()), batch);
}

void TelemetryLimits::Apply(v1::TelemetryBatch& batch) {
  LimitAlerts(batch);
  LimitSeries(batch);
  ReportBadLine(batch);
}

}  // namespace trainyard::worker
