// Shows queues and waiting jobs.
#ifndef TRAINYARD_CLI_OUTPUT_CLUSTER_QUEUE_VIEWS_H_
#define TRAINYARD_CLI_OUTPUT_CLUSTER_QUEUE_VIEWS_H_

#include <string>

#include "cli/output/terminal/table.h"
#include "trainyard/v1/queue_service.pb.h"

namespace trainyard::cli {

// Lists the waiting jobs in the order of the response.
Listing QueuedJobListing(const v1::ListQueuesResponse& response);

// Lists the queues, one row for each kind of slot that a queue uses.
Listing QueueListing(const v1::ListQueuesResponse& response);

// Returns, for example, "2 shares, tier 1; gpu: nominal 64, at most 128, 16 per user".
std::string QueueSettingsText(const v1::Queue& queue);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_CLUSTER_QUEUE_VIEWS_H_
