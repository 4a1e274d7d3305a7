// Request handlers of the users' API, shared by gRPC and HTTP: both only decode a request, call its
// handler, and encode the answer. Each handler gets the principal of the call; the field `user` of
// a changing request is only a claim, which gRPC and HTTP have turned into the principal.
#ifndef TRAINYARD_CONTROLLER_API_API_H_
#define TRAINYARD_CONTROLLER_API_API_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/api/cluster_loop.h"
#include "controller/api/reader_pool.h"
#include "controller/api/shutdown_signal.h"
#include "controller/api/storage_health.h"
#include "controller/core/support/principal.h"
#include "controller/store/events/event_log.h"
#include "controller/store/logs/log_store.h"
#include "controller/store/metrics/metric_store.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// True if an ended job will get no further output. Called on the loop thread.
using OutputComplete = std::function<bool(const JobEntry& entry, const ClusterView& view)>;

class AccessGate;

// Dependencies of the request handlers. All must outlive every call.
struct Api {
  ClusterLoop& loop;
  EventLog& events;
  MetricStore& metrics;
  LogStore& logs;
  ReaderPool& readers;
  // Runs searches that read a whole log, which may take minutes.
  ReaderPool& searchers;
  const ShutdownSignal& shutdown;
  const StorageHealth& storage;
  OutputComplete output_complete;
  // The constant fields of GetServerInfoResponse.
  v1::GetServerInfoResponse server_info;
  // Port of the gRPC server: 0 until it listens.
  const std::atomic<int>& grpc_port;
  // Recipe directories that job files sent as text may extend.
  std::vector<std::string> recipe_directories;
  // Adds the latest measurement of store and disk space to the answer to GetServerInfo.
  std::function<void(v1::GetServerInfoResponse& info)> add_space;
  AccessGate& gate;
};

// Called exactly once: on the loop thread, on a reader thread, or before the request handler
// returns.
template <typename Response>
using Reply = std::function<void(absl::StatusOr<Response>)>;

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_API_H_
