// The code of jobs on this node: fetched from the controller or other nodes, and shared with other
// nodes.
#ifndef TRAINYARD_WORKER_CODE_SHARING_H_
#define TRAINYARD_WORKER_CODE_SHARING_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/code_trees.h"
#include "worker/rpc/code_peer.h"
#include "worker/spool/data_dir.h"
#include "worker/worker_options.h"

namespace trainyard::worker {

struct NodeCode {
  std::shared_ptr<CodeTrees> trees;
  std::unique_ptr<CodePeerServer> server;  // Null if this node does not share code.
};

// `host` is the node's address. Errors are those of CodePeerServer::Start.
absl::StatusOr<NodeCode> OpenNodeCode(const WorkerOptions& options, const DataDir& data_dir,
                                      const std::string& host);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CODE_SHARING_H_
