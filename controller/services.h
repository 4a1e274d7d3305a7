// The gRPC services of the controller.
#ifndef TRAINYARD_CONTROLLER_SERVICES_H_
#define TRAINYARD_CONTROLLER_SERVICES_H_

#include <string>
#include <utility>

#include "controller/api/context/api.h"
#include "controller/front_door.h"
#include "controller/loop/worker_sessions.h"
#include "controller/rpc/access_service.h"
#include "controller/rpc/code_service.h"
#include "controller/rpc/exec_service.h"
#include "controller/rpc/job_service.h"
#include "controller/rpc/metric_service.h"
#include "controller/rpc/node_service.h"
#include "controller/rpc/queue_service.h"
#include "controller/rpc/report_service.h"
#include "controller/rpc/worker_control_service.h"

namespace trainyard::controller {

// All gRPC services except LogService. LogService exists outside this struct, because Ingest uses
// it to wake log followers.
struct Services {
  Services(const Api& api, WorkerSessions& sessions, const FrontDoor& door,
           DescribeLogin describe_login)
      : workers(sessions, door.prover, door.encrypted),
        jobs(api),
        metrics(api),
        nodes(api),
        queues(api),
        reports(api),
        server_info(api),
        access(api, door.prover, std::move(describe_login)),
        code(api),
        exec(api, {[&sessions](const std::string& node_id) { return sessions.CheckExec(node_id); },
                   [&sessions](const std::string& node_id, v1::OpenExec message) {
                     return sessions.SendExec(node_id, std::move(message));
                   }}) {}

  WorkerControlService workers;
  JobService jobs;
  MetricService metrics;
  NodeService nodes;
  QueueService queues;
  ReportService reports;
  ServerService server_info;
  AccessService access;
  CodeService code;
  ExecService exec;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_SERVICES_H_
