#include "controller/core/apply/ended_jobs.h"

#include <deque>

#include "absl/strings/str_cat.h"
#include "controller/core/support/invariant.h"

namespace trainyard::controller {
namespace {

// A submission searches the archive before it is decided. The request id of a job archived in the
// meantime must still be found, so this time exceeds the time between search and decision.
constexpr int64_t kArchivedRequestKeptMs = 600'000;

// Stores the request id for kArchivedRequestKeptMs, and removes expired ids.
void KeepArchivedRequest(const JobEntry& entry, Timestamp now, ClusterState& state) {
  std::deque<ArchivedRequest>& kept = state.archived_requests;
  while (!kept.empty() && kept.front().archived_ms <= now - kArchivedRequestKeptMs) {
    state.job_by_request_id.erase(kept.front().request_id);
    kept.pop_front();
  }
  if (!entry.request_id.empty()) kept.push_back({entry.request_id, entry.job.id(), now});
}

}  // namespace

void TakeArchived(const v1::JobArchived& archived, Timestamp now, ClusterState& state) {
  KeepArchivedRequest(EntryOf(archived.job_id(), state), now, state);
  RemoveEnded(archived.job_id(), state);
}

void ForgetJob(int64_t job_id, ClusterState& state) {
  const auto found = state.jobs.find(job_id);
  if (found == state.jobs.end()) {
    Require(IsArchived(state, job_id), absl::StrCat("job ", job_id, " was never submitted"));
    return;
  }
  const std::string request_id = found->second.request_id;
  RemoveEnded(job_id, state);
  const auto by_request = state.job_by_request_id.find(request_id);
  if (by_request != state.job_by_request_id.end() && by_request->second == job_id) {
    state.job_by_request_id.erase(by_request);
  }
}

}  // namespace trainyard::controller
