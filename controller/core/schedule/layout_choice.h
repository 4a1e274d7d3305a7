// Layouts for jobs with `layout: auto`: which choices are needed, which choices have been made, and
// the planner's choice itself.
//
// A choice may take a second, so it never runs on the loop thread. Schedule::layout_questions lists
// the choices that are missing. controller/layout_chooser.h makes these choices on another thread
// and submits them as ChooseLayout requests. Reconcile places a job as soon as the state has the
// choice that the job needs.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_LAYOUT_CHOICE_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_LAYOUT_CHOICE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/state/topology_index.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// A layout choice that a job needs. If shape.nodes is the number of nodes that the job requests,
// the layout must use exactly that many nodes. Otherwise, and for an elastic job, the layout must
// be the fastest layout on at most shape.nodes nodes.
struct LayoutQuestion {
  int64_t job_id = 0;
  GangShape shape;
  // The kind of slot, in the format of GrantedLayout.
  std::string device;
};

// Returns the kinds of device for which layouts are chosen, in the order in which they are tried:
// those of the groups of nodes on which the gang fits if all slots are free (node_groups.h). If it
// fits on none, those of all groups with a node of `shape.slots_per_node` slots. A kind can name
// several models, which are on the same nodes (node_devices.h). A layout for it must fit into the
// memory of the smallest model, and its time is the time on the slowest one.
std::vector<std::string> DevicesForLayouts(const ClusterState& state, const v1::JobSpec& spec,
                                           const GangShape& shape);

// Returns the job's choice that answers the question, or nullptr if there is none yet. A choice for
// more nodes also answers the question if its layout uses at most the question's number of nodes.
const v1::GrantedLayout* FindChoice(const JobEntry& entry, const LayoutQuestion& question);

// Returns the newest choice for the number of nodes that the job requests, for any slot kind.
// Returns nullptr if there is none yet.
const v1::GrantedLayout* NewestFullChoice(const JobEntry& entry);

// Returns true if no layout fits the slots that the job requests, on any kind of device that the
// cluster has. Such a job waits without blocking other jobs.
bool HasNoLayout(const ClusterState& state, const JobEntry& entry);

// Returns the smallest shape with which the job may start. For an elastic job with auto_layout,
// numbers of nodes for which no layout was found are not considered.
GangShape LeastShape(const JobEntry& entry);

// Returns the layout of an elastic job without auto_layout on the largest usable number of nodes
// that is at most `most`. Returns nullopt if there is none in the job's range.
std::optional<v1::GrantedLayout> WrittenLayoutOn(const v1::JobSpec& spec, int most);

// Returns those of `groups` for whose kind of device the job has a layout, or may have one; all
// groups if there are none, or if the controller does not choose the layout.
std::vector<NodeGroup> GroupsWithLayout(const JobEntry& entry, const GangShape& shape,
                                        const std::vector<NodeGroup>& groups);

// The nodes for which a layout is chosen. A copy is valid on any thread.
struct LayoutNodes {
  // nullptr: the distances between the nodes are not known.
  std::shared_ptr<const TopologyIndex> topology;
  // The names of the nodes, in the order of ranks.
  std::vector<std::string> names;
};

// Returns the nodes on which the gang would be placed if all slots were free.
LayoutNodes NodesFor(const ClusterState& state, const v1::JobSpec& spec,
                     const LayoutQuestion& question);

// Searches for a layout. The search may take a second. `spec` is the job's spec. Without `nodes`,
// all nodes count as equally close. Has no side effects and may be called on any thread.
v1::GrantedLayout ChooseLayoutFor(const v1::JobSpec& spec, const LayoutQuestion& question,
                                  const LayoutNodes& nodes = {});

// Returns the spec that the attempt runs: the job's spec with the granted layout and number of
// nodes.
v1::JobSpec GrantedSpec(const v1::JobSpec& spec, const v1::Attempt& attempt);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_LAYOUT_CHOICE_H_
