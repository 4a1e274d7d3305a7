// Request handlers of the users' API, shared by gRPC and HTTP. The gRPC and HTTP layers decode a
// request, determine the caller's principal, call the handler, and encode the answer. Handlers use
// the principal and ignore the request's field `user`, which is only the caller's claim.
#ifndef TRAINYARD_CONTROLLER_API_CONTEXT_API_H_
#define TRAINYARD_CONTROLLER_API_CONTEXT_API_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/api/context/cluster_loop.h"
#include "controller/api/context/reader_pool.h"
#include "controller/api/context/shutdown_signal.h"
#include "controller/api/context/start_forecaster.h"
#include "controller/api/context/storage_health.h"
#include "controller/core/support/principal.h"
#include "controller/store/events/event_log.h"
#include "controller/store/logs/log_store.h"
#include "controller/store/metrics/metric_store.h"
#include "proto/code/blob_store.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// Returns true if an ended job will produce no further output. Called on the loop thread.
using OutputComplete = std::function<bool(const JobEntry& entry, const ClusterView& view)>;

class AccessGate;
class CodeSources;
class HandOverSeat;

// Dependencies of the request handlers. All must outlive every call.
struct Api {
  ClusterLoop& loop;
  EventLog& events;
  MetricStore& metrics;
  LogStore& logs;
  ReaderPool& readers;
  // Runs searches that read a whole log. Such a search may take minutes.
  ReaderPool& searchers;
  const ShutdownSignal& shutdown;
  const StorageHealth& storage;
  OutputComplete output_complete;
  // The constant fields of GetServerInfoResponse.
  v1::GetServerInfoResponse server_info;
  // The port of the gRPC server. 0 until the server listens.
  const std::atomic<int>& grpc_port;
  // The recipe directories for job files sent as text. Such a job file may extend these recipes.
  std::vector<std::string> recipe_directories;
  // Adds the latest measurements of store sizes and free disk space to the answer to GetServerInfo.
  std::function<void(v1::GetServerInfoResponse& info)> add_space;
  AccessGate& gate;
  StartForecaster& start_forecaster;
  // Code of jobs. Null if the stores are in memory.
  code::BlobStore* code_store = nullptr;
  // Decides from where each node gets code. Null if code_store is null.
  CodeSources* code_sources = nullptr;
  // Null if the store is in files or in memory, so that no other controller can lead.
  HandOverSeat* hand_over = nullptr;
};

// Sends the response. Called exactly once: on the loop thread, on a reader thread, or before the
// request handler returns.
template <typename Response>
using Reply = std::function<void(absl::StatusOr<Response>)>;

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CONTEXT_API_H_
