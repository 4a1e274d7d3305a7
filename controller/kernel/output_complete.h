// Decides when a reader of a job's output has received all output.
#ifndef TRAINYARD_CONTROLLER_KERNEL_OUTPUT_COMPLETE_H_
#define TRAINYARD_CONTROLLER_KERNEL_OUTPUT_COMPLETE_H_

#include "controller/core/schedule/cluster_view.h"
#include "controller/kernel/sessions.h"

namespace trainyard::controller {

// Returns true if the store has all output that the nodes of the ended job can still send. For a
// disconnected node, completeness is assumed after 10 s.
bool IsOutputComplete(const JobEntry& entry, const ClusterView& view, const Sessions& sessions);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_OUTPUT_COMPLETE_H_
