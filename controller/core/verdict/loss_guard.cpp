#include "controller/core/verdict/loss_guard.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/rollbacks.h"
#include "controller/core/state/attempts/starting_point.h"
#include "controller/core/support/wait.h"
#include "proto/contract/exit_code.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

// The controller waits at most this long after a rank's exit for the alert that the rank raised.
constexpr int64_t kAlertWaitMs = 2000;

bool GoesBack(const v1::GuardSpec& rules) {
  return rules.policy() == v1::GUARD_POLICY_SKIP || rules.policy() == v1::GUARD_POLICY_LOWER_LR;
}

bool Acts(const v1::GuardSpec& rules) {
  return GoesBack(rules) || rules.policy() == v1::GUARD_POLICY_STOP;
}

int64_t StepOf(const v1::TelemetryRecord& record) {
  return record.has_alert() ? record.alert().step() : record.metrics().step();
}

const v1::SampleRange& SamplesOf(const v1::TelemetryRecord& record) {
  return record.has_alert() ? record.alert().samples() : record.metrics().samples();
}

// Returns the newest attempt if the request reports on it and the request's rank was placed on the
// reporting node. Otherwise returns nullptr.
const v1::Attempt* FencedAttempt(const JobEntry& entry, const ReceiveTelemetry& request) {
  const v1::Attempt* newest = NewestAttempt(entry);
  const bool is_own = newest != nullptr && newest->number() == request.attempt &&
                      0 <= request.rank && request.rank < newest->ranks_size() &&
                      newest->ranks(request.rank).node_id() == request.node_id;
  return is_own ? newest : nullptr;
}

// Returns the first step that may have caused the bad loss in the record. A metrics record covers
// all steps since the previous record.
int64_t FirstBadStep(const v1::JobSpec& spec, const v1::TelemetryRecord& record) {
  const int64_t steps =
      record.has_metrics() ? std::max<int64_t>(spec.train().log_every_steps(), 1) : 1;
  return std::max<int64_t>(1, StepOf(record) - (steps - 1) - spec.guard().rewind_steps());
}

// Builds the events for one finding.
class Guard {
 public:
  Guard(const JobEntry& entry, const v1::Attempt& attempt, const ReceiveTelemetry& request,
        const LossFinding& finding, v1::Event event)
      : job_(entry.job),
        rules_(entry.job.spec().guard()),
        entry_(entry),
        attempt_(attempt),
        record_(request.record),
        finding_(finding),
        event_(std::move(event)) {}

  std::vector<v1::Event> Events() {
    Raise();
    const bool finished = GangSucceeded(entry_);
    if (rules_.policy() == v1::GUARD_POLICY_STOP && Runs() && !finished) {
      Stop("guard.policy is stop");
    } else if (GoesBack(rules_) && MayGoBack() && !finished) {
      if (job_.rollbacks_size() < rules_.max_rollbacks()) {
        GoBack();
      } else if (Runs()) {
        Stop(absl::StrCat("all rollbacks allowed by guard.max_rollbacks (", rules_.max_rollbacks(),
                          ") are used up"));
      }
    }
    return std::move(events_);
  }

 private:
  bool Runs() const {
    return attempt_.state() == v1::ATTEMPT_STATE_STARTING ||
           attempt_.state() == v1::ATTEMPT_STATE_RUNNING;
  }

  // Returns true if the attempt is in a state in which the job may roll back. A failed attempt is
  // included, because its ranks may have exited because of the same loss before the record arrived.
  bool MayGoBack() const {
    // A checkpoint that was saved for a pause or a yield may contain the spike. Therefore a record
    // that arrives after the request can still cause a rollback.
    if (Runs() || IsInterrupted(attempt_)) return true;
    return job_.state() == v1::JOB_STATE_RECOVERING &&
           attempt_.stop_reason() == v1::STOP_REASON_FAILED;
  }

  std::string Evidence() const {
    return absl::StrCat("step ", StepOf(record_), ": ", finding_.evidence);
  }

  v1::Event& NewEvent() { return events_.emplace_back(event_); }

  // Appends the alert. If the program raised it, the alert has the program's text.
  void Raise() {
    v1::AlertRaised& alert = *NewEvent().mutable_alert_raised();
    alert.set_job_id(job_.id());
    alert.set_attempt(attempt_.number());
    alert.set_step(StepOf(record_));
    alert.set_by_guard(true);
    if (record_.has_alert()) {
      alert.set_code(std::string(Utf8Prefix(record_.alert().code(), kMaxReasonBytes)));
      alert.set_message(std::string(Utf8Prefix(record_.alert().message(), kMaxAlertBytes)));
      return;
    }
    alert.set_code(finding_.trouble == LossProblem::kSpike ? telemetry::kLossSpike
                                                           : telemetry::kNanLoss);
    alert.set_message(finding_.evidence);
    const std::string samples = RangeToSkip(SamplesOf(record_), 1);
    if (!samples.empty())
      absl::StrAppend(alert.mutable_message(), "; samples of this step: ", samples);
  }

  v1::Verdict VerdictOf(const std::string& consequence, bool restartable) const {
    v1::Verdict verdict;
    verdict.set_cause(finding_.trouble == LossProblem::kSpike ? v1::VERDICT_CAUSE_LOSS_SPIKE
                                                              : v1::VERDICT_CAUSE_LOSS_NOT_FINITE);
    verdict.set_rank(-1);
    verdict.set_summary(absl::StrCat(Evidence(), "; ", consequence));
    verdict.set_restartable(restartable);
    verdict.set_time_ms(event_.time_ms());
    return verdict;
  }

  void Stop(const std::string& why) {
    v1::AttemptFailed& failed = *NewEvent().mutable_attempt_failed();
    failed.set_job_id(job_.id());
    failed.set_attempt(attempt_.number());
    *failed.mutable_verdict() = VerdictOf(why, false);
  }

  void GoBack() {
    v1::AttemptRolledBack& back = *NewEvent().mutable_attempt_rolled_back();
    back.set_job_id(job_.id());
    back.set_attempt(attempt_.number());
    v1::Rollback& rollback = *back.mutable_rollback();
    rollback.set_attempt(attempt_.number());
    rollback.set_step(StepOf(record_));
    rollback.set_first_bad_step(FirstBadStep(job_.spec(), record_));
    if (std::isfinite(finding_.loss)) rollback.set_loss(finding_.loss);
    rollback.set_time_ms(event_.time_ms());
    rollback.set_reason(finding_.evidence);
    v1::Job next = job_;
    *next.add_rollbacks() = rollback;
    MarkRolledBack(next);
    rollback.set_to_step(NextStartingPoint(next).step);
    *back.mutable_verdict() = VerdictOf(Consequence(rollback), true);
  }

  // Sets, in the rollback, the changes for later attempts: the learning rate or the samples to
  // skip. Returns the changes as text.
  std::string Consequence(v1::Rollback& rollback) const {
    const std::string text = absl::StrCat("rolled back to step ", rollback.to_step());
    if (rules_.policy() == v1::GUARD_POLICY_LOWER_LR) {
      rollback.set_lr_factor(rules_.lr_factor());
      return absl::StrCat(text, ", and the learning rate is multiplied by ", rules_.lr_factor());
    }
    rollback.set_skip_samples(RangeToSkip(SamplesOf(record_), rules_.skip_batches()));
    if (!rollback.skip_samples().empty()) {
      return absl::StrCat(text, ", and samples ", rollback.skip_samples(), " are skipped");
    }
    return absl::StrCat(
        text,
        "; no samples are skipped, because the program does not report the samples of each step");
  }

  const v1::Job& job_;
  const v1::GuardSpec& rules_;
  const JobEntry& entry_;
  const v1::Attempt& attempt_;
  const v1::TelemetryRecord& record_;
  const LossFinding& finding_;
  const v1::Event event_;
  std::vector<v1::Event> events_;
};

}  // namespace

std::optional<LossFinding> FindingOf(const v1::AlertRecord& alert) {
  const bool is_loss = alert.code() == telemetry::kNanLoss;
  if (!is_loss && alert.code() != telemetry::kNanGradient) return std::nullopt;
  return LossFinding{LossProblem::kNotFinite, std::numeric_limits<double>::quiet_NaN(),
                     is_loss ? "the loss is not finite" : "the gradient norm is not finite"};
}

std::vector<ReceiveTelemetry> WatchLosses(const ClusterState& state, const std::string& node_id,
                                          const v1::TelemetryBatch& batch,
                                          Observations& observations) {
  const v1::StreamId& stream = batch.stream();
  const JobEntry* entry = FindEntry(state, stream.job_id());
  const v1::Attempt* newest = entry == nullptr ? nullptr : NewestAttempt(*entry);
  if (newest == nullptr || newest->number() != stream.attempt()) return {};
  std::vector<ReceiveTelemetry> found;
  for (const v1::TelemetryRecord& record : batch.records()) {
    const auto loss = record.metrics().values().find(telemetry::kLoss);
    if (loss == record.metrics().values().end()) continue;
    LossWatch& losses = observations.losses[stream.job_id()];
    auto finding = losses.Add(entry->job.spec().guard(), stream.attempt(), newest->resume_step(),
                              record.metrics().step(), loss->second);
    observations.attempts[{stream.job_id(), stream.attempt()}].divergence.AddSpikes(
        losses.spikes_in_a_row(), record.metrics().step());
    if (!finding.has_value()) continue;
    found.push_back(
        {stream.job_id(), stream.attempt(), stream.rank(), record, node_id, std::move(finding)});
  }
  return found;
}

std::vector<v1::Event> DecideLoss(const JobEntry& entry, const ReceiveTelemetry& request,
                                  const LossFinding& finding, v1::Event event) {
  const v1::Attempt* attempt = FencedAttempt(entry, request);
  const std::pair<int64_t, int64_t> place{request.attempt, StepOf(request.record)};
  if (attempt == nullptr || place <= entry.guarded) return {};
  return Guard(entry, *attempt, request, finding, std::move(event)).Events();
}

bool AwaitsLossAlert(const JobEntry& entry, const v1::RankExited& exited, Timestamp now) {
  const bool not_finite =
      exited.signal() == 0 && exited.exit_code() == static_cast<int>(ExitCode::kNotFinite);
  return not_finite && Acts(entry.job.spec().guard()) &&
         entry.guarded.first < NewestAttempt(entry)->number() &&
         !HasPassed(entry.first_failure_ms, entry.first_failure_ms + kAlertWaitMs, now);
}

}  // namespace trainyard::controller
