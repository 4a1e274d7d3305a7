#include "controller/core/decide/lost_history.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/support/core_options.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kWarningMs = 7 * 86'400'000LL;
// The number of job ids, and of attempt numbers, that are skipped after those in the mark. Some may
// be in use already, because the mark is written up to a few seconds after its event.
constexpr int64_t kSkippedJobIds = 10'000;
constexpr int64_t kSkippedAttempts = 1'000;
// The maximum number of job ids, and of attempt numbers, that are skipped because of one loss.
constexpr int64_t kMostSkipped = 1'000'000'000;

// Returns the number of events that the log lost: the events after its last event, up to the mark.
// Each lost event may have started an attempt.
int64_t LostEvents(const v1::LogMark& mark, uint64_t last_sequence) {
  if (mark.sequence() <= last_sequence) return 0;
  constexpr uint64_t kMost = kMostSkipped;
  return static_cast<int64_t>(std::min(mark.sequence() - last_sequence, kMost));
}

bool MayBePaused(const JobEntry& entry) {
  const v1::Job& job = entry.job;
  return !HasEnded(job.state()) && job.state() != v1::JOB_STATE_STOPPING && !job.has_pause() &&
         !HasFinished(entry);
}

bool AllAttached(const ClusterState& state, const Observations& observations) {
  return std::all_of(state.nodes.begin(), state.nodes.end(), [&](const auto& node) {
    return node.second.node.state() == v1::NODE_STATE_LOST || IsAttached(observations, node.first);
  });
}

std::string EventsLostText(const v1::EventsLost& lost) {
  return absl::StrCat("the event log has lost events: it ends with event ", lost.last_sequence(),
                      ", but ", lost.seen_by(), " has seen event ", lost.mark().sequence(),
                      " and job numbers up to ", lost.mark().job_id(),
                      ". An older copy of events.db or of the data directory replaced the current "
                      "one, or events.db-wal was removed. New jobs and attempts do not reuse lost "
                      "numbers. Ranks that are not in the log continue unmanaged, and their files "
                      "are kept. If you have the newest events.db with its -wal file, stop the "
                      "controller and put back both files; otherwise check `trainyard ",
                      "nodes` for cordoned nodes and `trainyard ps` for paused jobs");
}

}  // namespace

absl::Status CheckLogMark(const ClusterState& state, const v1::LogMark& mark) {
  const int64_t most = state.next_job_id > std::numeric_limits<int64_t>::max() - kMostSkipped
                           ? std::numeric_limits<int64_t>::max()
                           : state.next_job_id + kMostSkipped;
  if (mark.job_id() >= 0 && mark.job_id() < most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the worker reports that this cluster had job ", mark.job_id(),
      ", but the newest job in the event log is ", state.next_job_id - 1,
      ". The file log_mark in the worker's data directory is damaged; remove that file"));
}

bool IsRecorded(const ClusterState& state, const v1::LogMark& mark) {
  if (mark.job_id() >= state.restored_jobs_below) return false;
  return std::ranges::any_of(state.losses, [&](const v1::HistoryLoss& loss) {
    const v1::LogMark& known = loss.events_lost().mark();
    if (!loss.has_events_lost() || known.term() != mark.term()) return false;
    // Marks from older releases have no term, so sequence numbers are compared instead.
    return mark.term() != 0 || mark.sequence() <= known.sequence();
  });
}

bool IsUnexplainedLoss(const ClusterState& state, const v1::LogMark& mark) {
  return mark.job_id() >= state.restored_jobs_below;
}

absl::Status LostEventsError(const ReportLostEvents& report) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the database has lost events: its log ends with event ", report.last_sequence, ", but ",
      report.seen_by, " has seen event ", report.mark.sequence(), " and job numbers up to ",
      report.mark.job_id(),
      ". A fail-over to an asynchronous replica or an older copy of the database dropped "
      "acknowledged changes. The cluster stops; running jobs continue. Start the database server "
      "that has the newest events. If it is lost, start one controller once with "
      "--accept-lost-events: it skips the lost job and attempt numbers, and ranks that are missing "
      "from the log continue unmanaged"));
}

std::vector<v1::Event> DecideLostEvents(const ClusterState& state, const ReportLostEvents& request,
                                        Timestamp now) {
  if (IsRecorded(state, request.mark)) return {};
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor("controller");
  v1::EventsLost& lost = *event.mutable_events_lost();
  *lost.mutable_mark() = request.mark;
  lost.set_seen_by(request.seen_by);
  lost.set_last_sequence(request.last_sequence);
  const int64_t lost_job_ids = request.mark.job_id() - state.next_job_id + 1;
  lost.set_skipped_job_ids(kSkippedJobIds + std::clamp<int64_t>(lost_job_ids, 0, kMostSkipped));
  lost.set_skipped_attempts(kSkippedAttempts + LostEvents(request.mark, request.last_sequence));
  return {std::move(event)};
}

bool IsUnmanaged(const ClusterState& state, const AttemptKey& key) {
  const auto& [job_id, number] = key;
  if (IsLostToRestore(state, job_id)) return true;
  const JobEntry* entry = FindEntry(state, job_id);
  if (entry == nullptr || job_id >= state.restored_jobs_below) return false;
  if (number >= state.restored_attempt) return false;
  const v1::Job& job = entry->job;
  // The job lists only its newest attempts. An attempt older than the oldest listed attempt is not
  // missing from the log.
  const bool is_trimmed = job.attempts_size() >= kAttemptsKept && number < job.attempts(0).number();
  return !is_trimmed && FindAttempt(job, number) == nullptr;
}

std::vector<v1::Event> PausesForUnmanaged(const ClusterState& state, const v1::Hello& hello,
                                          Timestamp now) {
  std::vector<v1::Event> events;
  std::set<int64_t> paused;
  for (const v1::AttemptReport& report : hello.attempts()) {
    const JobEntry* entry = FindEntry(state, report.job_id());
    const bool runs = !report.cleared() && entry != nullptr &&
                      IsUnmanaged(state, {report.job_id(), report.attempt()});
    if (!runs || !MayBePaused(*entry)) continue;
    const v1::Attempt* newest = NewestAttempt(*entry);
    const bool is_newest = newest == nullptr || newest->number() < report.attempt();
    if (!is_newest || !paused.insert(report.job_id()).second) continue;
    v1::Event& event = events.emplace_back();
    event.set_time_ms(now);
    event.set_actor("controller");
    event.mutable_job_paused()->set_job_id(report.job_id());
    event.mutable_job_paused()->set_reason(absl::StrCat(
        "attempt ", report.attempt(), ", which the event log has lost, runs unmanaged on node ",
        hello.node_name(),
        "; once the attempt's ranks on that node have ended or were stopped, run trainyard resume ",
        report.job_id()));
  }
  return events;
}

bool IsLogConfirmed(const ClusterState& state, const Observations& observations,
                    const CoreOptions& options, Timestamp now) {
  if (now < observations.since_ms || now >= observations.since_ms + options.confirm_log_ms) {
    return true;
  }
  return AllAttached(state, observations);
}

bool MayPlace(const ClusterState& state, const Observations& observations,
              const CoreOptions& options, Timestamp now) {
  if (!IsLogConfirmed(state, observations, options, now)) return false;
  const auto loss = std::find_if(state.losses.rbegin(), state.losses.rend(),
                                 [](const v1::HistoryLoss& one) { return one.has_events_lost(); });
  if (loss == state.losses.rend() || now >= loss->time_ms() + kWarningMs) return true;
  const Timestamp since = std::max(observations.since_ms, loss->time_ms());
  if (now < since || now >= since + options.return_within_ms) return true;
  return AllAttached(state, observations);
}

std::string LossText(const v1::HistoryLoss& loss) {
  if (loss.has_events_lost()) return EventsLostText(loss.events_lost());
  const v1::StoreDataLost& lost = loss.store_data_lost();
  return absl::StrCat(lost.store(), ".db has lost data: ", lost.reason(),
                      ". Workers resend the data that they still have. To restore the rest, stop "
                      "the controller and put back the newest ",
                      lost.store(), ".db and its -wal file if you have them");
}

std::vector<std::string> LossWarnings(const ClusterState& state, Timestamp now) {
  std::vector<std::string> warnings;
  for (const v1::HistoryLoss& loss : state.losses) {
    if (now < loss.time_ms() + kWarningMs) warnings.push_back(LossText(loss));
  }
  return warnings;
}

}  // namespace trainyard::controller
