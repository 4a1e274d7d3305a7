// The layout of a job with `layout: auto`: which one is needed, which one was chosen, and the
// choice itself by the planner.
//
// A choice may take a second, so the loop never makes one: Reconcile places a job once the choice
// that it needs is in the state, LayoutQuestionsDue (reconcile.h) names the choices that are
// missing, and the shell makes them on another thread and hands them in as the request
// ChooseLayout.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_LAYOUT_CHOICE_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_LAYOUT_CHOICE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "controller/core/state/gang_shape.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// The choice that a job needs: the layout of exactly the nodes that it asks for, or the fastest of
// at most `shape.nodes` nodes when these are all that is left.
struct LayoutQuestion {
  int64_t job_id = 0;
  GangShape shape;
  // Kind of slot, as in GrantedLayout.
  std::string device;
};

// The kinds of slot that layouts are chosen for, on nodes that are not lost and have
// `shape.slots_per_node` of them: "NVIDIA A100-SXM4-40GB, NVIDIA RTX A6000", in this order. A
// layout for several kinds fits on the smallest and is timed by the slowest. Empty when there is
// none.
std::string DeviceForLayouts(const ClusterState& state, const GangShape& shape);

// The answer to the question among the choices of the job; nullptr when it has not been made yet.
// The choice for more nodes that left some of these unused is the one for fewer nodes, too.
const v1::GrantedLayout* FindChoice(const JobEntry& entry, const LayoutQuestion& question);

// The newest choice for the nodes that the job asks for, whatever the kind of slot; nullptr before
// the first.
const v1::GrantedLayout* NewestFullChoice(const JobEntry& entry);

// True when no layout fits the slots that the job asks for: it waits, and holds up no other job.
bool HasNoLayout(const JobEntry& entry);

// Searches layouts: may take a second. `spec` is that of the job. Pure; any thread.
v1::GrantedLayout ChooseLayoutFor(const v1::JobSpec& spec, const LayoutQuestion& question);

// The spec as an attempt runs it: with the layout and the number of nodes that were granted.
v1::JobSpec GrantedSpec(const v1::JobSpec& spec, const v1::Attempt& attempt);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_LAYOUT_CHOICE_H_
