#include "controller/core/observations/observe.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "controller/core/observations/stall.h"
#include "controller/core/state/attempts/gang.h"
#include "proto/contract/limits.h"
#include "proto/contract/phase.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

constexpr int kMaxDeviceErrors = 8;

AttemptKey KeyOf(const v1::AttemptReport& report) { return {report.job_id(), report.attempt()}; }

const v1::RankReport* FindRank(const v1::AttemptReport& report, int rank) {
  const auto found =
      std::ranges::find_if(report.ranks(), [=](const auto& other) { return other.rank() == rank; });
  return found == report.ranks().end() ? nullptr : &*found;
}

int64_t SaneMs(int64_t reported_ms) { return std::clamp<int64_t>(reported_ms, 0, kLongestStillMs); }

bool Moved(const v1::RankReport& before, const v1::RankReport& now, const RankObservation& rank) {
  if (before.step() != now.step() || before.phase() != now.phase()) return true;
  return !ReportsSteps(rank) && before.last_activity_ms() != now.last_activity_ms();
}

// Records the progress that a report shows. At the time of the call, rank.phase is still the
// previous phase; all other fields of `rank` already have the values from the report.
void NoteMovement(const std::string& phase, int64_t longest_pause_ms, RankObservation& rank) {
  const Timestamp now = LastProgress(rank);
  const bool new_phase = !phase.empty() && phase != rank.phase;
  const bool is_first = rank.moving_until_ms == 0;
  const bool paused = is_first || now - rank.moving_until_ms > longest_pause_ms;
  if (IsTraining(rank)) {
    if (paused) {
      rank.steady_before_ms = 0;
    } else if (new_phase) {
      rank.steady_before_ms += now - rank.moving_since_ms;
    }
  }
  if (new_phase) {
    rank.phase = phase;
    rank.phase_since_ms = rank.still_since_ms;
  }
  if (new_phase || paused) rank.moving_since_ms = now;
  rank.moving_until_ms = now;
}

// `before` is the previous report, or nullptr if there is none.
void ObserveProgress(const v1::RankReport* before, const v1::RankReport& report, Timestamp now,
                     int64_t longest_pause_ms, RankObservation& rank) {
  // Once a rank has ended, the worker no longer measures it.
  if (before == nullptr || report.running()) {
    rank.still_since_ms = now - SaneMs(report.still_ms());
    rank.quiet_since_ms = now - SaneMs(report.quiet_ms());
  }
  rank.step = std::max(rank.step, report.step());
  if (before != nullptr && !Moved(*before, report, rank)) return;
  NoteMovement(report.phase(), longest_pause_ms, rank);
}

// Adds the compute time of each step only once: a stalled rank repeats its newest report.
void ObserveCompute(const v1::RankReport* before, const v1::RankReport& report, Timestamp now,
                    RankObservation& rank, AttemptObservation& attempt) {
  const double seconds = report.newest().step_time().compute();
  const bool is_new = before == nullptr || before->newest().step() != report.newest().step();
  if (!is_new || !(seconds > 0) || !std::isfinite(seconds)) return;
  attempt.measures_compute = true;
  rank.compute.Add(seconds, now);
}

void TakeNewest(const v1::RankRecord& newest, RankObservation& rank) {
  const bool is_new_generation = rank.newest.generation() != newest.generation();
  // Another member may now have this place. The compute times of the previous member do not apply
  // to the new member.
  if (is_new_generation) rank.compute = {};
  if (is_new_generation || rank.first_step_of_generation == 0) {
    rank.first_step_of_generation = newest.step();
  }
  rank.newest = newest;
}

void TakeSlowStep(int64_t ms, RankObservation& rank, AttemptObservation& attempt) {
  if (ms == rank.slow_step_ms) return;
  std::multiset<int64_t>& all = attempt.slow_steps_ms;
  if (rank.slow_step_ms > 0) all.erase(all.find(rank.slow_step_ms));
  rank.slow_step_ms = ms;
  all.insert(ms);
}

// `before` is the previous report, or nullptr if there is none.
void ObserveReport(const v1::AttemptReport* before, const v1::AttemptReport& report, Timestamp now,
                   const ClusterState& state, AttemptObservation& attempt) {
  for (const v1::RankReport& rank : report.ranks()) {
    const int place = PlaceIn(state, KeyOf(report), rank.rank());
    if (place == kNoPlace) continue;
    const v1::RankReport* earlier = before == nullptr ? nullptr : FindRank(*before, rank.rank());
    RankObservation& observed = attempt.ranks[place];
    if (observed.running && !rank.running()) observed.left_ms = now;
    if (rank.running()) observed.left_ms = 0;
    if (rank.running()) observed.ran_ms = now;
    observed.running = rank.running();
    observed.unmatched_lines = rank.unmatched_lines();
    if (rank.has_newest()) TakeNewest(rank.newest(), observed);
    // The value is 0 if the worker was restarted and has not timed any steps yet.
    if (rank.slow_step_ms() > 0) TakeSlowStep(SaneMs(rank.slow_step_ms()), observed, attempt);
    ObserveCompute(earlier, rank, now, observed, attempt);
    ObserveProgress(earlier, rank, now, LongestPauseMs(attempt), observed);
  }
}

// Updates the newest stall. While reports are missing, the gang may be training, so time without
// reports does not count as a stall. A stall ends with the first report that shows progress. All
// time until that report counts, so that the stalled time in the ledger never shrinks.
void ObserveStall(Timestamp now, AttemptObservation& attempt) {
  const Timestamp since = StalledSince(attempt, now);
  const bool is_open = attempt.stall.has_value() && attempt.stall->until_ms == 0;
  if (since != 0 && AllReport(attempt, now)) {
    if (!is_open) attempt.stall = {since, 0, now};
    attempt.stall->seen_ms = now;
  } else if (since == 0 && is_open) {
    const bool saw_end = now - attempt.stall->seen_ms <= kReportPauseMs;
    attempt.stall->until_ms = saw_end ? now : attempt.stall->seen_ms;
  }
}

using AttemptReports = google::protobuf::RepeatedPtrField<v1::AttemptReport>;

// Decrements the number of nodes that report the attempt. When no such node is left, removes the
// attempt's observation.
void DropReport(const AttemptKey& key, Observations& observations) {
  const auto attempt = observations.attempts.find(key);
  if (attempt == observations.attempts.end()) return;
  if (--attempt->second.reporting_nodes <= 0) observations.attempts.erase(attempt);
}

// Returns true if the node has confirmed the end of the attempt. The messages of a node arrive in
// order. A report that follows the confirmation and lacks the attempt therefore shows that the
// worker has forgotten the attempt, and not that the start command is still on its way.
bool HasConfirmedEnd(const ClusterState& state, const AttemptKey& key, const std::string& node_id) {
  const auto job = state.jobs.find(key.job_id);
  if (job == state.jobs.end()) return false;
  const v1::Attempt* newest = NewestAttempt(job->second);
  return newest != nullptr && newest->number() == key.number &&
         job->second.cleared_nodes.contains(node_id);
}

void TakeReports(const std::string& node_id, const AttemptReports& reports, Timestamp now,
                 const ClusterState& state, Observations& observations) {
  NodeObservation& node = observations.nodes[node_id];
  node.last_heartbeat_ms = now;
  const bool paused = now - node.last_report_ms > kReportPauseMs;
  if (paused) node.reports_since_ms = now;
  node.last_report_ms = now;
  std::map<AttemptKey, v1::AttemptReport> before = std::move(node.reports);
  node.reports.clear();
  for (const v1::AttemptReport& report : reports) {
    const AttemptKey key = KeyOf(report);
    if (!node.reports.emplace(key, report).second) continue;
    node.starts_sent.erase(key);
    const auto earlier = before.find(key);
    AttemptObservation& attempt = observations.attempts[key];
    if (earlier == before.end()) ++attempt.reporting_nodes;
    ObserveReport(earlier == before.end() ? nullptr : &earlier->second, report, now, state,
                  attempt);
    ObserveStall(now, attempt);
  }
  std::erase_if(node.starts_sent,
                [&](const AttemptKey& key) { return HasConfirmedEnd(state, key, node_id); });
  for (const auto& [key, report] : before) {
    if (!node.reports.contains(key)) DropReport(key, observations);
  }
}

void TakeCondition(const std::string& node_id, const v1::NodeCondition& condition,
                   Observations& observations) {
  v1::NodeCondition& kept = observations.nodes[node_id].condition = condition;
  kept.set_trouble(std::string(Utf8Prefix(condition.trouble(), kMaxReasonBytes)));
  if (kept.trouble().empty()) {
    observations.troubled_nodes.erase(node_id);
  } else {
    observations.troubled_nodes.insert(node_id);
  }
  if (kept.device_errors_size() > kMaxDeviceErrors) {
    kept.mutable_device_errors()->DeleteSubrange(0, kept.device_errors_size() - kMaxDeviceErrors);
  }
  if (kept.device_errors().empty()) {
    observations.nodes_with_device_errors.erase(node_id);
  } else {
    observations.nodes_with_device_errors.insert(node_id);
  }
}

// Updates only the trouble. The rest of the node's condition keeps its last reported values.
void TakeProblem(const std::string& node_id, const v1::NodeCondition& condition,
                 Observations& observations) {
  v1::NodeCondition known = observations.nodes[node_id].condition;
  known.set_trouble(condition.trouble());
  TakeCondition(node_id, known, observations);
}

}  // namespace

void ObserveAttached(const v1::Hello& hello, Timestamp now, const ClusterState& state,
                     Observations& observations) {
  observations.nodes[hello.node_id()].attached = true;
  observations.nodes[hello.node_id()].takes_commands = false;
  observations.nodes[hello.node_id()].older_release = !hello.challenge().empty() ? ""
                                                      : hello.worker_version().empty()
                                                          ? "unknown"
                                                          : hello.worker_version();
  observations.nodes[hello.node_id()].clock.Note(hello.time_ms(), now);
  TakeReports(hello.node_id(), hello.attempts(), now, state, observations);
  TakeCondition(hello.node_id(), hello.condition(), observations);
  NoteRoot(hello.node_id(), hello, now, observations.roots);
}

void ObserveWelcomed(const std::string& node_id, Observations& observations) {
  observations.nodes[node_id].starts_sent.clear();
  observations.nodes[node_id].welcomed = true;
  observations.nodes[node_id].takes_commands = true;
}

void ObserveDetached(const std::string& node_id, Observations& observations) {
  // A worker that was refused has no observation.
  const auto node = observations.nodes.find(node_id);
  // Time without a heartbeat is measured from the last message, not from the end of the stream.
  if (node == observations.nodes.end()) return;
  node->second.attached = false;
  node->second.takes_commands = false;
}

void ObserveHeartbeat(const std::string& node_id, const v1::Heartbeat& heartbeat, Timestamp now,
                      const ClusterState& state, Observations& observations) {
  if (heartbeat.blocked()) return TakeProblem(node_id, heartbeat.condition(), observations);
  TakeReports(node_id, heartbeat.attempts(), now, state, observations);
  TakeCondition(node_id, heartbeat.condition(), observations);
  NoteRoot(node_id, heartbeat, now, observations.roots);
  NodeObservation& node = observations.nodes[node_id];
  node.clock.Note(heartbeat.time_ms(), now);
  if (const auto known = state.nodes.find(node_id); known != state.nodes.end()) {
    NoteDevices(heartbeat, known->second.node.inventory(), now, node.devices);
  }
  if (heartbeat.checks().empty()) return;
  node.checks.assign(heartbeat.checks().begin(), heartbeat.checks().end());
  node.checked_ms = now;
}

void ObserveUnread(const std::string& node_id, Timestamp now, const ClusterState& state,
                   Observations& observations) {
  const auto node = observations.nodes.find(node_id);
  if (node == observations.nodes.end()) return;
  node->second.last_heartbeat_ms = now;
  for (const auto& [key, report] : node->second.reports) {
    const auto attempt = observations.attempts.find(key);
    if (attempt == observations.attempts.end()) continue;
    for (const v1::RankReport& rank : report.ranks()) {
      const auto observed = attempt->second.ranks.find(PlaceIn(state, key, rank.rank()));
      // Restart the steady-progress window: the rank is not evidence until the window has passed.
      if (observed == attempt->second.ranks.end()) continue;
      observed->second.moving_since_ms = now;
      observed->second.steady_before_ms = 0;
    }
  }
}

void ShiftHeartbeats(int64_t gap_ms, Timestamp now, Observations& observations) {
  if (gap_ms <= 0) return;
  const auto shift = [=](Timestamp& time) { time = std::min(time + gap_ms, now); };
  shift(observations.since_ms);
  observations.resumed_ms = now;
  for (auto& [id, node] : observations.nodes) {
    shift(node.last_heartbeat_ms);
    shift(node.last_report_ms);
    shift(node.reports_since_ms);
  }
  for (auto& [key, attempt] : observations.attempts) {
    for (auto& [number, rank] : attempt.ranks) {
      shift(rank.still_since_ms);
      shift(rank.quiet_since_ms);
      shift(rank.moving_since_ms);
      shift(rank.moving_until_ms);
    }
  }
}

void ShiftTimes(int64_t step_ms, Observations& observations) {
  const auto shift = [=](Timestamp& time) {
    if (time != 0) time += step_ms;
  };
  observations.stepped_ms += step_ms;
  shift(observations.since_ms);
  shift(observations.resumed_ms);
  for (auto& [id, node] : observations.nodes) {
    shift(node.last_heartbeat_ms);
    shift(node.last_report_ms);
    shift(node.reports_since_ms);
    shift(node.checked_ms);
    node.clock.Shift(step_ms);
    ShiftDevices(step_ms, node.devices);
  }
  for (auto& [id, pace] : observations.paces) pace.Shift(step_ms);
  for (auto& [id, progress] : observations.progress) {
    if (progress.time_ms() != 0) progress.set_time_ms(progress.time_ms() + step_ms);
  }
  for (auto& [key, attempt] : observations.attempts) {
    attempt.divergence.Shift(step_ms);
    shift(attempt.metrics_ms);
    shift(attempt.steps_end_ms);
    if (attempt.save_problem.has_value()) shift(attempt.save_problem->since_ms);
    if (attempt.stall.has_value()) {
      shift(attempt.stall->since_ms);
      shift(attempt.stall->until_ms);
      shift(attempt.stall->seen_ms);
    }
    for (auto& [number, rank] : attempt.ranks) {
      for (Timestamp* time : {&rank.phase_since_ms, &rank.ran_ms, &rank.left_ms,
                              &rank.still_since_ms, &rank.quiet_since_ms, &rank.moving_since_ms,
                              &rank.moving_until_ms, &rank.recorded_phase_ms}) {
        shift(*time);
      }
      rank.compute.Shift(step_ms);
    }
  }
}

void ForgetOld(const ClusterState& state, Observations& observations) {
  std::erase_if(observations.progress,
                [&](const auto& progress) { return !state.jobs.contains(progress.first); });
  std::erase_if(observations.losses,
                [&](const auto& losses) { return !state.jobs.contains(losses.first); });
  std::erase_if(observations.paces,
                [&](const auto& pace) { return !state.jobs.contains(pace.first); });
  std::erase_if(observations.rates,
                [&](const auto& rates) { return !state.jobs.contains(rates.first); });
  std::erase_if(observations.longest_phase_ms,
                [&](const auto& phases) { return !state.jobs.contains(phases.first); });
  std::erase_if(observations.left_out,
                [&](const auto& left_out) { return !state.jobs.contains(left_out.first); });
  std::erase_if(observations.nodes, [&](const auto& node) {
    if (node.second.attached || state.nodes.contains(node.first)) return false;
    for (const auto& [key, report] : node.second.reports) DropReport(key, observations);
    ForgetRoot(node.first, observations.roots);
    observations.roots.awaited.erase(node.first);
    return true;
  });
  const auto is_gone = [&](const std::string& id) { return !observations.nodes.contains(id); };
  std::erase_if(observations.troubled_nodes, is_gone);
  std::erase_if(observations.nodes_with_device_errors, is_gone);
}

void ObserveStartSent(const std::string& node_id, const AttemptKey& attempt,
                      Observations& observations) {
  NodeObservation& node = observations.nodes[node_id];
  if (!node.reports.contains(attempt)) node.starts_sent.insert(attempt);
}

}  // namespace trainyard::controller
