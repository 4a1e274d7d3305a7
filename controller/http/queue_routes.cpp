#include "controller/http/queue_routes.h"

#include "controller/http/route_parameters.h"

namespace trainyard::controller::http {

std::vector<Route> QueueRoutes() {
  const Parameter name{.name = "queue", .doc = "Name of the queue.", .in_path = true};
  return {{.operation = Operation::kListQueues,
           .id = "listQueues",
           .method = "GET",
           .path = "/queues",
           .summary = "Queues with their use of slots, and the waiting jobs in order.",
           .command_line = "trainyard queue",
           .parameters = {Limit(10'000,
                                "Maximum number of waiting jobs of each kind of slot "
                                "(default: 100).")},
           .response = "ListQueuesResponse"},
          {.operation = Operation::kSetQueue,
           .id = "setQueue",
           .method = "POST",
           .path = "/queues/{queue}",
           .summary = "Creates a queue or replaces its settings.",
           .command_line = "trainyard queue set {queue}",
           .parameters = {name},
           .request = "SetQueueRequest",
           .response = "SetQueueResponse"},
          {.operation = Operation::kDeleteQueue,
           .id = "deleteQueue",
           .method = "DELETE",
           .path = "/queues/{queue}",
           .summary = "Deletes a queue without jobs.",
           .command_line = "trainyard queue delete {queue}",
           .parameters = {name, {.name = "user", .doc = "User who deletes the queue."}},
           .response = "DeleteQueueResponse"},
          {.operation = Operation::kMoveJob,
           .id = "moveJob",
           .method = "POST",
           .path = "/jobs/{job}/move",
           .summary = "Moves the job to another queue, or changes its priority.",
           .command_line = "trainyard queue move {job}",
           .parameters = {JobInPath()},
           .request = "MoveJobRequest",
           .response = "MoveJobResponse",
           .given_fields = "job"}};
}

}  // namespace trainyard::controller::http
