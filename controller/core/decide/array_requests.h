// Requests of users about whole arrays.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_ARRAY_REQUESTS_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_ARRAY_REQUESTS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The decision on a request about the job with this number, name or "@last".
using JobDecision =
    std::function<absl::StatusOr<std::vector<v1::Event>>(const std::string& reference)>;

// Returns the events of the request about the job. If the job is an array, also returns the events
// of the same request about its elements that have not ended. An element for which the request is
// refused stays as it is, such as an element that is being stopped.
absl::StatusOr<std::vector<v1::Event>> DecideWithElements(const ClusterState& state,
                                                          const std::string& reference,
                                                          const JobDecision& decide);

// Decides on the stop of an array, without its elements. The array ends after its elements.
std::vector<v1::Event> DecideArrayStop(const ClusterState& state, const StopJob& stop,
                                       const JobEntry& array, Timestamp now);

// INVALID_ARGUMENT or ALREADY_EXISTS: the name is the name of an element of an array that has not
// ended, or, for an array, one of its elements would have the name of another job.
absl::Status CheckElementNames(const ClusterState& state, const v1::JobSpec& spec);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_ARRAY_REQUESTS_H_
