// Layouts for jobs with `layout: auto`: which choices are needed, which have been made, and the
// choice itself by the planner.
//
// A choice may take a second, so it never runs on the loop. Schedule::layout_questions lists the
// missing choices. The shell makes them on another thread and submits them as ChooseLayout
// requests. Reconcile places a job once the state has the choice that the job needs.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_LAYOUT_CHOICE_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_LAYOUT_CHOICE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "controller/core/state/gang_request.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// A layout choice that a job needs. If shape.nodes is the number of nodes that the job asks for,
// the layout uses exactly that many. Otherwise it is the fastest layout on at most shape.nodes
// nodes.
struct LayoutQuestion {
  int64_t job_id = 0;
  GangShape shape;
  // Kind of slot, as in GrantedLayout.
  std::string device;
};

// Slot kinds to choose layouts for: those of nodes that are not lost and have
// `shape.slots_per_node` slots. Sorted: "NVIDIA A100-SXM4-40GB, NVIDIA RTX A6000". A layout for
// several kinds fits the smallest kind and is timed on the slowest. Empty if there is no such node.
std::string DeviceForLayouts(const ClusterState& state, const GangShape& shape);

// The answer to the question among the job's choices; nullptr if there is none yet. A choice for
// more nodes that left some of them unused also answers the question for fewer nodes.
const v1::GrantedLayout* FindChoice(const JobEntry& entry, const LayoutQuestion& question);

// Newest choice for the number of nodes that the job asks for, for any slot kind; nullptr if there
// is none yet.
const v1::GrantedLayout* NewestFullChoice(const JobEntry& entry);

// True if no layout fits the slots that the job asks for. The job waits without blocking other
// jobs.
bool HasNoLayout(const JobEntry& entry);

// Searches layouts, which may take a second. `spec` is the job's spec. Pure; callable from any
// thread.
v1::GrantedLayout ChooseLayoutFor(const v1::JobSpec& spec, const LayoutQuestion& question);

// The spec as run by the attempt: with the granted layout and number of nodes.
v1::JobSpec GrantedSpec(const v1::JobSpec& spec, const v1::Attempt& attempt);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_LAYOUT_CHOICE_H_
