// Successive halving of arrays: elements with a bad metric are stopped early.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_HALVING_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_HALVING_H_

#include <optional>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The metrics of the other elements at a rung.
struct RungField {
  // The metrics of the elements that reached the rung before; nullopt if not finite.
  std::vector<std::optional<double>> metrics;
  // The number of elements that failed before the rung.
  int failed = 0;
};

// Decides on an element that reaches a rung. The element continues if its rank is within `keep` of
// all compared elements, itself included, rounded up. The lowest metric has rank 1. An element
// precedes failed elements, and follows earlier elements with an equal metric. A metric that is not
// finite follows all numbers. An element that is compared with no other one continues. Sets metric,
// rank, compared and stopped.
v1::ArrayRung DecideRung(std::optional<double> metric, const RungField& field, double keep);

// Returns the decisions about elements that have reached a rung, and the stops of elements. An
// array without `halving` has none.
std::vector<v1::Event> HalvingEventsDue(const ClusterState& state, const Observations& observations,
                                        Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_HALVING_H_
