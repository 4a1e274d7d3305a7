#include "tests/simulation/checkers/reservation_model.h"

#include <algorithm>

#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/support/durations.h"

namespace trainyard::simulation {

std::string ReservationAgainst(const controller::ClusterState& state,
                               const controller::JobEntry& entry, const std::string& node,
                               Timestamp now) {
  const v1::Job& job = entry.job;
  const auto rest = controller::RemainingTime(job, now);
  const int64_t grace_ms = controller::ToMs(job.spec().stop_grace());  // The time to save.
  for (const auto& [name, reservation] : state.node_reservations) {
    // The simulated users name nodes without ranges.
    if (std::ranges::count(reservation.nodes(), node) == 0) continue;
    const bool is_of_queue =
        !reservation.queue().empty() && reservation.queue() == controller::QueueOf(job);
    const bool is_of_user = !reservation.user().empty() && reservation.user() == job.user();
    if (is_of_queue || is_of_user || now >= reservation.end_ms()) continue;
    const bool has_begun = now >= reservation.start_ms();
    if (has_begun || !rest.has_value() || now + *rest + grace_ms > reservation.start_ms())
      return name;
  }
  return "";
}

}  // namespace trainyard::simulation
