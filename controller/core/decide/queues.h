// Requests of users about queues, and about the place of a job in the order of waiting jobs.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_QUEUES_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_QUEUES_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/queue_service.pb.h"

namespace trainyard::controller {

inline constexpr std::size_t kMaxQueues = 1000;
inline constexpr int kMaxShares = 1'000'000;
inline constexpr int kMaxTier = 100;
inline constexpr int kMaxPriority = 1000;

// Returns no events if the queue has these settings already. The errors of all functions are those
// of QueueService.
absl::StatusOr<std::vector<v1::Event>> DecideSetQueue(const ClusterState& state,
                                                      const v1::SetQueueRequest& request,
                                                      const Principal& principal, Timestamp now);
absl::StatusOr<std::vector<v1::Event>> DecideDeleteQueue(const ClusterState& state,
                                                         const v1::DeleteQueueRequest& request,
                                                         const Principal& principal, Timestamp now);
absl::StatusOr<std::vector<v1::Event>> DecideMoveJob(const ClusterState& state,
                                                     const v1::MoveJobRequest& request,
                                                     const Principal& principal, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_QUEUES_H_
