#include "controller/core/archive.h"

#include <algorithm>
#include <deque>

#include "controller/core/archived_elements.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/ledger/token_progress.h"
#include "controller/core/observations/time_use.h"
#include "controller/core/state/jobs/origin_list.h"
#include "controller/core/support/core_options.h"

namespace trainyard::controller {
namespace {

// The maximum number of jobs that one call checks, and the maximum number that it archives. Each
// archived job adds a few KB to the tick's transaction.
constexpr int kLookedAt = 1000;
constexpr std::size_t kArchivedAtOnce = 100;

// Returns true if the node cannot send anything more about the attempt.
bool IsNodeSettled(const std::string& node_id, const AttemptKey& attempt, const ClusterState& state,
                   const Observations& observations, bool waited_long) {
  const auto node = state.nodes.find(node_id);
  if (node != state.nodes.end() && node->second.uncleared.contains(attempt)) return false;
  const auto observed = observations.nodes.find(node_id);
  if (observed == observations.nodes.end() || !observed->second.attached) return waited_long;
  // A worker stops reporting an attempt only after all facts and streams of the attempt are stored.
  return !observed->second.reports.contains(attempt);
}

bool IsSettled(const JobEntry& entry, const ClusterState& state, const Observations& observations,
               bool waited_long) {
  return std::ranges::all_of(entry.job.attempts(), [&](const v1::Attempt& attempt) {
    return std::ranges::all_of(GangNodes(attempt), [&](const std::string& node_id) {
      return IsNodeSettled(node_id, {entry.job.id(), attempt.number()}, state, observations,
                           waited_long);
    });
  });
}

// Returns true if no older job in the state has the same name. Jobs of one name are archived oldest
// first, so that a job in the state is always newer than archived jobs of its name.
bool IsOldestOfItsName(const v1::Job& job, const ClusterState& state) {
  return *state.jobs_by_name.at(job.name()).begin() == job.id();
}

}  // namespace

std::vector<v1::Event> ArchiveDue(const ClusterState& state, const Observations& observations,
                                  const CoreOptions& options, Timestamp now,
                                  ArchiveCursor& cursor) {
  std::vector<v1::Event> events;
  const auto kept = static_cast<std::size_t>(options.ended_jobs_kept);
  if (state.ended_jobs.size() <= kept) return events;
  const std::size_t most = std::min(state.ended_jobs.size() - kept, kArchivedAtOnce);
  auto next = state.ended_jobs.upper_bound(cursor);
  for (int looked = 0; looked < kLookedAt && events.size() < most; ++looked, ++next) {
    if (next == state.ended_jobs.end() || next->first > now - options.archive_after_ms) {
      cursor = {};
      return events;
    }
    cursor = *next;
    const JobEntry& entry = state.jobs.at(next->second);
    const bool waited_long = next->first <= now - options.archive_away_ms;
    if (!IsOldestOfItsName(entry.job, state) ||
        !IsSettled(entry, state, observations, waited_long)) {
      continue;
    }
    v1::Event& event = events.emplace_back();
    event.set_time_ms(now);
    event.set_actor("controller");
    event.mutable_job_archived()->set_job_id(entry.job.id());
  }
  return events;
}

v1::ArchivedJob ToArchived(const JobEntry& entry, const Observations& observations, Timestamp now) {
  v1::ArchivedJob archived;
  v1::Job& job = *archived.mutable_job();
  job = entry.job;
  MergeObserved(entry.job, observations, now, job);
  const auto progress = observations.progress.find(job.id());
  if (progress != observations.progress.end()) {
    *job.mutable_progress() = progress->second;
    AddTokens(job.spec(), *job.mutable_progress());
  }
  UnpackOrigins(entry.origin_list, job);
  *archived.mutable_details() = DetailsOf(entry);
  archived.mutable_details()->clear_origin_list();
  KeepBestElements(kMaxArchivedElements, *archived.mutable_details());
  return archived;
}

}  // namespace trainyard::controller
