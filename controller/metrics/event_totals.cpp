#include "controller/metrics/event_totals.h"

#include <algorithm>

#include "controller/core/state/jobs/job_state_machine.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

using prometheus::MetricType;

constexpr MetricInfo kEvents{"trainyard_events_total",
                             "Events committed since the controller started, by type.",
                             MetricType::Counter};
constexpr MetricInfo kPlacements{"trainyard_placements_total",
                                 "Gang placements, for a first attempt or a restart.",
                                 MetricType::Counter};
constexpr MetricInfo kRestarts{"trainyard_restarts_total",
                               "Attempts placed after a failed one, by the cause of the failure.",
                               MetricType::Counter};
constexpr MetricInfo kFailures{"trainyard_attempts_failed_total", "Failed attempts, by cause.",
                               MetricType::Counter};
constexpr MetricInfo kRollbacks{"trainyard_rollbacks_total",
                                "Rollbacks by the loss guard, by cause.", MetricType::Counter};
constexpr MetricInfo kHeals{"trainyard_heals_total",
                            "Recoveries in place with spare nodes, by state: started, or completed "
                            "(the gang has completed a step after the heal).",
                            MetricType::Counter};
constexpr MetricInfo kHealSeconds{"trainyard_heal_seconds",
                                  "Time from the failure to the next step of the healed gang.",
                                  MetricType::Histogram};
constexpr MetricInfo kEnded{"trainyard_jobs_ended_total", "Jobs that ended, by final state.",
                            MetricType::Counter};
constexpr MetricInfo kAlerts{"trainyard_alerts_total",
                             "Alerts raised by trainers or the controller, by code.",
                             MetricType::Counter};
constexpr MetricInfo kJobAlerts{"trainyard_job_alerts_total", "Alerts of the job, by code.",
                                MetricType::Counter};
constexpr MetricInfo kQueueWait{"trainyard_queue_wait_seconds",
                                "Time from submission to the first placement.",
                                MetricType::Histogram};

std::string TypeOf(const v1::Event& event) {
  const auto* field = v1::Event::descriptor()->FindFieldByNumber(event.kind_case());
  return field == nullptr ? "unknown" : field->name();
}

const v1::Attempt* FindAttempt(const JobEntry& entry, int64_t attempt_number) {
  const auto& attempts = entry.job.attempts();
  const auto found = std::ranges::find_if(
      attempts, [=](const v1::Attempt& attempt) { return attempt.number() == attempt_number; });
  return found == attempts.end() ? nullptr : &*found;
}

}  // namespace

// Exports 0 for causes and states that have not occurred yet, so that Prometheus counts their first
// occurrence as an increase.
EventTotals::EventTotals()
    : placements_{{"first", 0}, {"restart", 0}, {"resume", 0}},
      rollbacks_{{EnumText(v1::VERDICT_CAUSE_LOSS_NOT_FINITE), 0},
                 {EnumText(v1::VERDICT_CAUSE_LOSS_SPIKE), 0}},
      heals_{{"begun", 0}, {"healed", 0}},
      heal_seconds_({1, 2, 3, 5, 7.5, 10, 15, 20, 30}),
      queue_wait_({1, 5, 15, 60, 300, 900, 3600, 14400, 43200, 86400, 604800}) {
  for (int cause = v1::VERDICT_CAUSE_RANK_EXITED; cause <= v1::VerdictCause_MAX; ++cause) {
    if (!v1::VerdictCause_IsValid(cause)) continue;
    failures_[EnumText(static_cast<v1::VerdictCause>(cause))] = 0;
    restarts_[EnumText(static_cast<v1::VerdictCause>(cause))] = 0;
  }
  for (int number = v1::JobState_MIN; number <= v1::JobState_MAX; ++number) {
    const auto state = static_cast<v1::JobState>(number);
    if (HasEnded(state)) ended_[EnumText(state)] = 0;
  }
  const auto* kinds = v1::Event::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kinds->field_count(); ++i) events_[kinds->field(i)->name()] = 0;
}

void EventTotals::Restore(const ClusterState& state, Timestamp now) {
  for (const auto& [id, entry] : state.jobs) {
    if (HasEnded(entry.job.state()) && entry.job.ended_time_ms() > now - kEndedJobKeptMs) {
      ended_jobs_.emplace_back(entry.job.ended_time_ms(), id);
    }
  }
  std::ranges::sort(ended_jobs_);
}

void EventTotals::Count(const v1::Event& event, const ClusterState& state) {
  ++events_[TypeOf(event)];
  if (event.has_job_placed()) {
    CountPlacement(event, state);
  } else if (event.has_attempt_failed()) {
    ++failures_[EnumText(event.attempt_failed().verdict().cause())];
  } else if (event.has_attempt_rolled_back()) {
    ++rollbacks_[EnumText(event.attempt_rolled_back().verdict().cause())];
  } else if (event.has_attempt_healing()) {
    ++heals_["begun"];
  } else if (event.has_attempt_healed()) {
    ++heals_["healed"];
    heal_seconds_.Observe(static_cast<double>(event.attempt_healed().heal_ms()) / 1000);
  } else if (event.has_job_ended()) {
    ++ended_[EnumText(event.job_ended().state())];
    ended_jobs_.emplace_back(event.time_ms(), event.job_ended().job_id());
  } else if (event.has_alert_raised()) {
    const v1::AlertRaised& alert = event.alert_raised();
    CountName(alert.code(), alerts_);
    CountName(alert.code(), alerts_of_job_[alert.job_id()]);
  }
}

void EventTotals::CountPlacement(const v1::Event& event, const ClusterState& state) {
  const v1::JobPlaced& placed = event.job_placed();
  const JobEntry* entry = FindEntry(state, placed.job_id());
  if (entry == nullptr) return;
  if (placed.attempt() == 1) {
    ++placements_["first"];
    const v1::Attempt* first = FindAttempt(*entry, 1);
    const int64_t held_ms = first == nullptr ? 0 : first->paused_before_ms();
    const int64_t wait_ms = event.time_ms() - entry->job.submitted_time_ms() - held_ms;
    queue_wait_.Observe(static_cast<double>(std::max<int64_t>(0, wait_ms)) / 1000);
    return;
  }
  if (placed.resumed()) {
    ++placements_["resume"];
    return;
  }
  ++placements_["restart"];
  const v1::Attempt* failed = FindAttempt(*entry, placed.attempt() - 1);
  if (failed != nullptr) ++restarts_[EnumText(failed->verdict().cause())];
}

void EventTotals::CountName(const std::string& name, Counts& counts) {
  const bool counted = counts.contains(name) || counts.size() < kMaxNamesCounted;
  ++counts[counted ? name : "other"];
}

std::vector<int64_t> EventTotals::ForgetEnded(Timestamp now) {
  std::vector<int64_t> forgotten;
  while (!ended_jobs_.empty() && ended_jobs_.front().first <= now - kEndedJobKeptMs) {
    forgotten.push_back(ended_jobs_.front().second);
    alerts_of_job_.erase(ended_jobs_.front().second);
    ended_jobs_.pop_front();
  }
  return forgotten;
}

void EventTotals::AddSamples(MetricSet& metrics) const {
  const auto add = [&](const MetricInfo& info, const char* label, const Counts& counts) {
    for (const auto& [name, count] : counts) {
      metrics.Add(info, {{label, name}}, static_cast<double>(count));
    }
  };
  add(kEvents, "type", events_);
  add(kPlacements, "kind", placements_);
  add(kRestarts, "cause", restarts_);
  add(kFailures, "cause", failures_);
  add(kRollbacks, "cause", rollbacks_);
  add(kHeals, "stage", heals_);
  metrics.Add(kHealSeconds, {}, heal_seconds_);
  add(kEnded, "state", ended_);
  add(kAlerts, "code", alerts_);
  metrics.Add(kQueueWait, {}, queue_wait_);
}

void EventTotals::AddJobSamples(int64_t job_id, const MetricLabels& labels,
                                MetricSet& metrics) const {
  const auto found = alerts_of_job_.find(job_id);
  if (found == alerts_of_job_.end()) return;
  for (const auto& [code, count] : found->second) {
    MetricLabels with_code = labels;
    with_code.push_back({"code", code});
    metrics.Add(kJobAlerts, std::move(with_code), static_cast<double>(count));
  }
}

}  // namespace trainyard::controller
