#include "controller/kernel/known_alerts.h"

#include <algorithm>

#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// Newest events of a job that are searched: the bytes of older alerts have long been stored.
constexpr int kEventsSearched = 1000;
// Sizes at which everything is forgotten and read from the log again.
constexpr std::size_t kMaxAttempts = 10'000;
constexpr std::size_t kMaxAlerts = 100'000;

}  // namespace

AlertKey AlertKeyOf(const v1::StreamId& stream, const v1::AlertRecord& alert) {
  return {ToStreamKey(stream), alert.step(), alert.code()};
}

absl::Status KnownAlerts::Drop(v1::TelemetryBatch& batch) {
  auto& records = *batch.mutable_records();
  const auto is_alert = [](const v1::TelemetryRecord& record) { return record.has_alert(); };
  if (std::none_of(records.begin(), records.end(), is_alert)) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const Alerts* earlier, EarlierAlerts(batch.stream()));
  const auto kept = std::remove_if(records.begin(), records.end(), [&](const auto& record) {
    return record.has_alert() &&
           (earlier->contains({record.alert().step(), record.alert().code()}) ||
            added_.contains(AlertKeyOf(batch.stream(), record.alert())));
  });
  records.erase(kept, records.end());
  return absl::OkStatus();
}

absl::StatusOr<const KnownAlerts::Alerts*> KnownAlerts::EarlierAlerts(const v1::StreamId& stream) {
  const AttemptKey attempt{stream.job_id(), stream.attempt()};
  if (const auto known = earlier_.find(attempt); known != earlier_.end()) return &known->second;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<v1::Event> events,
                             read_events_(stream.job_id(), kEventsSearched));
  if (earlier_.size() >= kMaxAttempts) earlier_.clear();
  Alerts& earlier = earlier_[attempt];
  for (const v1::Event& event : events) {
    const v1::AlertRaised& alert = event.alert_raised();
    if (event.has_alert_raised() && alert.attempt() == stream.attempt()) {
      earlier.emplace(alert.step(), alert.code());
    }
  }
  return &earlier;
}

void KnownAlerts::Add(const AlertKey& alert) {
  if (added_.size() >= kMaxAlerts) {
    added_.clear();
    earlier_.clear();
  }
  added_.insert(alert);
}

}  // namespace trainyard::controller
