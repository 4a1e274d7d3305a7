// The queues with their use of slots, and the waiting jobs in order.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_QUEUE_REPORT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_QUEUE_REPORT_H_

#include <string>

#include "controller/core/schedule/cluster_view.h"
#include "trainyard/v1/queue_service.pb.h"

namespace trainyard::controller {

// Lists at most `limit` jobs of each kind of slot. Does not set `revision`.
v1::ListQueuesResponse QueueReport(const ClusterView& view, int limit);

// Returns one queue of the report.
v1::QueueState QueueStateOf(const ClusterView& view, const std::string& name);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_QUEUE_REPORT_H_
