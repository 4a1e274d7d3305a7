#include "controller/kernel/known_alerts.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

namespace trainyard::controller {
namespace {

// Newest events of a job that are searched for alerts whose bytes were not stored.
constexpr int kEventsSearched = 1000;
// Size at which the offsets are forgotten: they only save reads of the log.
constexpr std::size_t kMaxRemembered = 100'000;

}  // namespace

absl::Status KnownAlerts::Drop(v1::TelemetryBatch& batch) {
  if (received_until_.size() >= kMaxRemembered) received_until_.clear();
  const auto [received, is_first] = received_until_.try_emplace(ToStreamKey(batch.stream()), 0);
  const int64_t received_until = received->second;
  received->second = std::max(received_until, batch.end_offset());
  if (!is_first && batch.begin_offset() >= received_until) return absl::OkStatus();
  auto& records = *batch.mutable_records();
  const auto is_alert = [](const v1::TelemetryRecord& record) { return record.has_alert(); };
  if (std::none_of(records.begin(), records.end(), is_alert)) return absl::OkStatus();
  const auto events = read_events_(batch.stream().job_id(), kEventsSearched);
  if (!events.ok()) return events.status();
  std::set<std::tuple<int64_t, int64_t, std::string>> known;
  for (const v1::Event& event : *events) {
    const v1::AlertRaised& alert = event.alert_raised();
    if (event.has_alert_raised()) known.emplace(alert.attempt(), alert.step(), alert.code());
  }
  const auto kept = std::remove_if(records.begin(), records.end(), [&](const auto& record) {
    return record.has_alert() &&
           known.contains({batch.stream().attempt(), record.alert().step(), record.alert().code()});
  });
  records.erase(kept, records.end());
  return absl::OkStatus();
}

}  // namespace trainyard::controller
