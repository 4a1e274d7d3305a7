#include "controller/core/state/jobs/history_losses.h"

#include <algorithm>
#include <cstddef>

namespace trainyard::controller {
namespace {

constexpr std::size_t kLossesKept = 16;

}  // namespace

void SkipNumbers(int64_t job_ids, int64_t attempts, ClusterState& state) {
  int64_t newest_number = state.restored_attempt;
  for (const auto& [id, entry] : state.jobs) {
    const v1::Attempt* newest = NewestAttempt(entry);
    if (newest != nullptr) newest_number = std::max(newest_number, newest->number());
  }
  const int64_t first_lost = state.next_job_id;
  state.next_job_id += job_ids;
  if (first_lost < state.next_job_id) state.lost_jobs[first_lost] = state.next_job_id;
  state.restored_jobs_below = state.next_job_id;
  state.restored_attempt = newest_number + attempts;
}

v1::HistoryLoss HistoryLossOf(const v1::Event& event) {
  v1::HistoryLoss loss;
  loss.set_time_ms(event.time_ms());
  if (event.has_events_lost()) *loss.mutable_events_lost() = event.events_lost();
  if (event.has_store_data_lost()) *loss.mutable_store_data_lost() = event.store_data_lost();
  return loss;
}

void AddLoss(const v1::Event& event, ClusterState& state) {
  state.losses.push_back(HistoryLossOf(event));
  if (state.losses.size() > kLossesKept) state.losses.pop_front();
}

}  // namespace trainyard::controller
