#include "controller/kernel/known_alerts.h"

#include <algorithm>

namespace trainyard::controller {
namespace {

// The number of a job's newest events that are searched for alerts. The bytes of older alerts are
// already stored, so these alerts cannot arrive again.
constexpr int kEventsSearched = 1000;
// Maximum sizes. Beyond these sizes, the oldest entries are removed. The bytes of their alerts are
// already stored, so these alerts cannot arrive again.
constexpr std::size_t kMaxAttempts = 10'000;
constexpr std::size_t kMaxAlerts = 100'000;

}  // namespace

AlertKey AlertKeyOf(const StreamKey& stream, const v1::AlertRecord& alert) {
  return {stream, alert.step(), alert.code()};
}

LoggedAlerts ReadLoggedAlerts(const std::vector<AttemptKey>& attempts, const ReadJobEvents& read) {
  LoggedAlerts alerts;
  for (const AttemptKey& attempt : attempts) {
    const auto events = read(attempt.job_id, kEventsSearched);
    if (!events.ok()) continue;
    auto& of_attempt = alerts[attempt];
    for (const v1::Event& event : *events) {
      const v1::AlertRaised& alert = event.alert_raised();
      if (event.has_alert_raised() && alert.attempt() == attempt.number) {
        of_attempt.emplace(alert.step(), alert.code());
      }
    }
  }
  return alerts;
}

void KnownAlerts::Load(LoggedAlerts alerts) {
  logged_.merge(alerts);
  while (logged_.size() > kMaxAttempts) logged_.erase(logged_.begin());
}

void KnownAlerts::Drop(v1::TelemetryBatch& batch) const {
  const v1::StreamId& stream = batch.stream();
  const auto logged = logged_.find({stream.job_id(), stream.attempt()});
  const auto is_known = [&](const v1::TelemetryRecord& record) {
    if (!record.has_alert()) return false;
    const v1::AlertRecord& alert = record.alert();
    const bool was_logged =
        logged != logged_.end() && logged->second.contains({alert.step(), alert.code()});
    return was_logged || added_.contains(AlertKeyOf(ToStreamKey(stream), alert));
  };
  auto& records = *batch.mutable_records();
  records.erase(std::remove_if(records.begin(), records.end(), is_known), records.end());
}

void KnownAlerts::Add(const AlertKey& alert) {
  if (!added_.insert(alert).second) return;
  added_in_order_.push_back(alert);
  if (added_.size() <= kMaxAlerts) return;
  added_.erase(added_in_order_.front());
  added_in_order_.pop_front();
}

}  // namespace trainyard::controller
