#include "controller/core/observations/observe_telemetry.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/observations/data_progress.h"
#include "controller/core/observations/data_wait.h"
#include "controller/core/observations/evaluated_losses.h"
#include "controller/core/observations/expected_end.h"
#include "controller/core/observations/observe_rate.h"
#include "controller/core/state/attempts/gang.h"
#include "proto/contract/limits.h"
#include "proto/contract/phase.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/job_kind.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

// Maximum size of a text from a worker that is kept in memory.
constexpr std::size_t kMaxReportBytes = 512;

constexpr std::size_t kMaxSaveProblemBytes = 1024;

double ValueOr(const v1::MetricsRecord& metrics, const char* name, double fallback) {
  const auto found = metrics.values().find(name);
  return found == metrics.values().end() ? fallback : found->second;
}

void NoteFirstSteps(int64_t step, AttemptObservation& attempt) {
  auto& [first, second] = attempt.first_steps;
  if (first == 0) {
    first = step;
  } else if (second == 0 && step > first) {
    second = step;
  }
}

// Identifies the size and the layout of the attempt's gang.
std::string LayoutKey(const ClusterState& state, const AttemptKey& key) {
  const JobEntry* entry = FindEntry(state, key.job_id);
  const v1::Attempt* attempt =
      entry == nullptr ? nullptr : controller::FindAttempt(entry->job, key.number);
  if (attempt == nullptr) return "";
  return absl::StrCat(GangSize(*attempt), "/", attempt->layout().layout().SerializeAsString());
}

// Adds the rate of the newest steps: in tokens if the program reports it, otherwise in steps. If
// the program reports no times, the time between two records counts.
void ObservePace(const v1::MetricsRecord& metrics, Timestamp time, const std::string& layout,
                 const AttemptKey& key, AttemptObservation& attempt, PaceWatch& pace) {
  const int64_t steps = metrics.step() - std::exchange(attempt.metrics_step, metrics.step());
  const int64_t ms = time - std::exchange(attempt.metrics_ms, time);
  const double tokens = ValueOr(metrics, telemetry::kTokensPerSecond, 0);
  const double seconds = ValueOr(metrics, telemetry::kStepSeconds, 0);
  const auto add = [&](PaceWatch::Unit unit, double rate) {
    if (rate <= 0 || !std::isfinite(rate)) return;
    pace.Add(key.number, layout,
             {.unit = unit,
              .rate = rate,
              .time = time,
              .is_diverging = attempt.divergence.divergence().has_value(),
              .data_wait_ms = DataWaitMs(metrics)});
  };
  if (tokens > 0) return add(PaceWatch::Unit::kTokens, tokens);
  if (seconds > 0) return add(PaceWatch::Unit::kSteps, 1 / seconds);
  const bool has_previous = ms != time;
  if (has_previous && steps > 0 && ms > 0) {
    add(PaceWatch::Unit::kSteps, 1000.0 * static_cast<double>(steps) / static_cast<double>(ms));
  }
}

// Returns true if a newer attempt of the job has written metrics. Records of an older attempt may
// arrive after records of a newer attempt.
bool HasNewerMetrics(const AttemptKey& key, const Observations& observations) {
  for (auto newer = observations.attempts.upper_bound(key);
       newer != observations.attempts.end() && newer->first.job_id == key.job_id; ++newer) {
    if (newer->second.reporting_rank != kNoReportingRank) return true;
  }
  return false;
}

// Returns true if all bytes of the batch were observed before.
bool WasObserved(const v1::TelemetryBatch& batch, AttemptObservation& attempt) {
  const v1::StreamId& stream = batch.stream();
  int64_t& until = attempt.observed_until[{stream.rank(), static_cast<int>(stream.kind())}];
  if (batch.end_offset() == 0) return false;  // The sender does not use offsets.
  return batch.end_offset() <= std::exchange(until, std::max(until, batch.end_offset()));
}

// Updates the numbers that only the attempt itself uses.
void ObserveSteps(const v1::MetricsRecord& metrics, double step_seconds,
                  AttemptObservation& attempt) {
  if (step_seconds > 0) attempt.step_times.Add(step_seconds);
  attempt.total_steps = std::max(attempt.total_steps, metrics.total_steps());
  NoteFirstSteps(metrics.step(), attempt);
}

void ObserveLoss(const v1::MetricsRecord& metrics, v1::Progress& progress) {
  const auto loss = metrics.values().find(telemetry::kLoss);
  if (loss == metrics.values().end()) return;
  progress.set_loss(loss->second);
  progress.set_loss_step(metrics.step());
  if (!std::isfinite(loss->second)) return;
  if (!progress.has_best_loss() || loss->second < progress.best_loss()) {
    progress.set_best_loss(loss->second);
  }
}

// Records are ordered by attempt and by arrival. The clock of a program may be set or wrong, so the
// times in its records cannot order the records.
void ObserveMetrics(const v1::MetricsRecord& metrics, Timestamp time, bool is_newest,
                    AttemptObservation& attempt, v1::Progress& progress) {
  // The reported step time is untrusted input and may be Infinity. This limit ensures that sums of
  // step times, and their conversion to milliseconds, are finite.
  constexpr double kLongestStepSeconds = 365 * 86400.0;
  const double step_seconds =
      std::min(ValueOr(metrics, telemetry::kStepSeconds, 0), kLongestStepSeconds);
  ObserveSteps(metrics, step_seconds, attempt);
  if (!is_newest) return;
  progress.set_time_ms(time);
  progress.set_step(metrics.step());
  if (metrics.total_steps() > 0) progress.set_total_steps(metrics.total_steps());
  ObserveLoss(metrics, progress);
  ObserveEvaluatedLosses(metrics, progress);
  progress.set_tokens_per_second(
      ValueOr(metrics, telemetry::kTokensPerSecond, progress.tokens_per_second()));
  if (step_seconds > 0) progress.set_step_seconds(step_seconds);
  const int64_t steps_left = std::max<int64_t>(0, progress.total_steps() - metrics.step());
  progress.set_eta_seconds(static_cast<double>(steps_left) * attempt.step_times.Pace());
}

void ObserveSaves(const v1::TelemetryRecord& record, Timestamp time, AttemptObservation& attempt) {
  if (record.has_checkpoint() && !record.checkpoint().deleted()) attempt.save_problem.reset();
  if (!record.has_alert()) return;
  const v1::AlertRecord& alert = record.alert();
  const bool blocked = alert.code() == telemetry::kCheckpointBlocked;
  const bool unshared = alert.code() == telemetry::kCheckpointUnshared;
  if (!blocked && !unshared && alert.code() != telemetry::kCheckpointFailed) return;
  const Timestamp since = attempt.save_problem.has_value() ? attempt.save_problem->since_ms : time;
  attempt.save_problem = {alert.step(),
                          std::string(Utf8Prefix(alert.message(), kMaxSaveProblemBytes)), blocked,
                          unshared, since};
}

// Returns the time of the member's record, converted to the controller's clock. Because of the
// conversion, a change of the node's clock does not lengthen a phase.
int64_t TimeOf(const v1::TelemetryRecord& record, const v1::RankPlacement* member,
               const Observations& observations) {
  const auto node =
      member == nullptr ? observations.nodes.end() : observations.nodes.find(member->node_id());
  // Workers of older releases do not report their clock.
  if (node == observations.nodes.end() || !node->second.clock.AheadMs()) return record.time_ms();
  return CorrectedTime(record.time_ms(), node->second.clock.AheadMs(),
                       node->second.last_heartbeat_ms);
}

// Returns the time at which the newest metrics were written, for the display of their age. The
// program's clock may be wrong, so the time is limited to a plausible range. The result is not
// earlier than the rank's last progress, as measured by the worker. The result is not later than
// the arrival of the node's newest heartbeat, because a record is written before it arrives.
Timestamp ShownTime(Timestamp time, const v1::RankPlacement* member, const RankObservation& rank,
                    const Observations& observations) {
  const auto node =
      member == nullptr ? observations.nodes.end() : observations.nodes.find(member->node_id());
  if (node == observations.nodes.end() || node->second.last_heartbeat_ms == 0) return time;
  return std::min(std::max(time, LastProgress(rank)), node->second.last_heartbeat_ms);
}

// Measures phases by the times in their records, because a batch may arrive much later than its
// records were written.
void ObservePhase(const v1::TelemetryRecord& record, int64_t time_ms, RankObservation& rank,
                  std::map<std::string, int64_t>& longest_ms) {
  if (!record.has_phase()) return;
  const int64_t since_ms = std::exchange(rank.recorded_phase_ms, time_ms);
  const std::string phase = std::exchange(rank.recorded_phase, record.phase().phase());
  const bool is_timed = since_ms > 0 && time_ms >= since_ms && PhaseOf(phase).has_value();
  if (!is_timed || phase == PhaseName(Phase::kTrain)) return;
  int64_t& longest = longest_ms[phase];
  longest = std::max(longest, std::min(time_ms - since_ms, kLongestStillMs));
}

const ProgramRules& RulesOfJob(const ClusterState& state, int64_t job_id) {
  const JobEntry* entry = FindEntry(state, job_id);
  return ProgramRulesOf(entry == nullptr ? v1::JobSpec::default_instance() : entry->job.spec());
}

void NoteBadLines(const v1::TelemetryBatch& batch, int place, BadTelemetry& bad) {
  if (batch.bad_lines() <= 0) return;
  if (bad.lines == 0) {
    bad.rank = place;
    bad.first = std::string(Utf8Prefix(batch.bad_line(), kMaxReportBytes));
  }
  bad.lines += batch.bad_lines();
}

// By default, torchrun reports failed ranks, but not that it starts them again. Metrics that follow
// some time after the failure show the restart.
void NoteLauncher(const v1::TelemetryRecord& record, LauncherRestarts& restarts) {
  // Time within which a launcher ends its other ranks after a failure.
  constexpr int64_t kLauncherEndMs = 3000;
  const std::string message(Utf8Prefix(record.alert().message(), kMaxReportBytes));
  if (record.alert().code() == telemetry::kLauncherRankFailed) {
    restarts.failure = message;
    restarts.failed_ms = record.time_ms();
    return;
  }
  const bool is_reported = record.alert().code() == telemetry::kLauncherRestart;
  const bool is_shown = record.has_metrics() && restarts.failed_ms != 0 &&
                        record.time_ms() >= restarts.failed_ms + kLauncherEndMs;
  if (!is_reported && !is_shown) return;
  ++restarts.count;
  restarts.newest = is_reported ? message : restarts.failure;
  restarts.failed_ms = 0;
}

// Predicts the end of the last step anew. `attempt`: the observation of the attempt.
void NoteEndOfSteps(const AttemptKey& key, const ClusterState& state,
                    const Observations& observations, AttemptObservation& attempt) {
  const JobEntry* entry = FindEntry(state, key.job_id);
  const v1::Attempt* of_job =
      entry == nullptr ? nullptr : controller::FindAttempt(entry->job, key.number);
  const auto progress = observations.progress.find(key.job_id);
  if (of_job == nullptr || progress == observations.progress.end()) return;
  attempt.steps_end_ms = EndOfSteps(entry->job, *of_job, attempt, progress->second);
}

}  // namespace

void ObserveTelemetry(const v1::TelemetryBatch& batch, const ClusterState& state,
                      Observations& observations) {
  const v1::StreamId& stream = batch.stream();
  const AttemptKey key{stream.job_id(), stream.attempt()};
  // Records of a replaced member may arrive after its place was assigned to another member.
  const int place = LastPlaceIn(state, key, stream.rank());
  if (place == kNoPlace) return;
  AttemptObservation& attempt = observations.attempts[key];
  if (WasObserved(batch, attempt)) return;
  const bool is_newest = !HasNewerMetrics(key, observations);
  const ProgramRules& program = RulesOfJob(state, key.job_id);
  RankObservation replaced;
  const bool holds_place = PlaceIn(state, key, stream.rank()) == place;
  RankObservation& rank = holds_place ? attempt.ranks[place] : replaced;
  const v1::RankPlacement* member = FindMember(state, key, stream.rank());
  NoteBadLines(batch, place, attempt.bad_telemetry);
  for (const v1::TelemetryRecord& record : batch.records()) {
    NoteLauncher(record, attempt.launcher_restarts);
    const Timestamp time = TimeOf(record, member, observations);
    ObserveSaves(record, time, attempt);
    ObservePhase(record, time, rank, observations.longest_phase_ms[stream.job_id()]);
    const bool is_data = program.program == JobProgram::kData;
    if (record.has_phase() && is_data && is_newest && place == 0) {
      observations.progress[stream.job_id()].mutable_data()->set_phase(record.phase().phase());
    }
    const int64_t step = record.has_metrics() ? record.metrics().step() : record.phase().step();
    rank.step = std::max(rank.step, step);
    if (record.has_metrics()) {
      rank.newest.set_step_seconds(
          ValueOr(record.metrics(), telemetry::kStepSeconds, rank.newest.step_seconds()));
      attempt.reporting_rank = std::min(attempt.reporting_rank, place);
      if (place > attempt.reporting_rank) continue;
      const Timestamp shown_ms = ShownTime(time, member, rank, observations);
      ObserveMetrics(record.metrics(), shown_ms, is_newest, attempt,
                     observations.progress[stream.job_id()]);
      if (is_newest && is_data) {
        ObserveDataProgress(record.metrics(), observations.progress[stream.job_id()]);
      }
      attempt.divergence.Add(record.metrics(), shown_ms);
      ObserveRate(record.metrics(), key, state, observations);
      if (!program.has_equal_steps) continue;
      ObservePace(record.metrics(), time, LayoutKey(state, key), key, attempt,
                  observations.paces[stream.job_id()]);
    } else if (record.has_experts()) {
      if (place <= attempt.reporting_rank) attempt.experts.Add(record.experts());
    } else if (record.has_evaluation()) {
      const v1::EvaluationRecord& evaluation = record.evaluation();
      SetEvaluatedLoss(evaluation.data_set(), evaluation.step(), evaluation.loss(),
                       observations.progress[stream.job_id()]);
    }
  }
  if (is_newest) NoteEndOfSteps(key, state, observations, attempt);
}

void KeepReportingRanksMetrics(const ClusterState& state, const Observations& observations,
                               v1::TelemetryBatch& batch) {
  const AttemptKey key{batch.stream().job_id(), batch.stream().attempt()};
  const auto attempt = observations.attempts.find(key);
  const int place = LastPlaceIn(state, key, batch.stream().rank());
  const bool is_reporting =
      attempt == observations.attempts.end() || place <= attempt->second.reporting_rank;
  if (place != kNoPlace && is_reporting) return;
  auto& records = *batch.mutable_records();
  records.erase(std::remove_if(records.begin(), records.end(),
                               [](const auto& record) {
                                 return record.has_metrics() || record.has_experts() ||
                                        record.has_data_report();
                               }),
                records.end());
}

}  // namespace trainyard::controller
