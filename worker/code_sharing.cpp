#include "worker/code_sharing.h"

#include <vector>

#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"
#include "worker/rpc/code_client.h"
#include "worker/rpc/dial_controller.h"

namespace trainyard::worker {

absl::StatusOr<NodeCode> OpenNodeCode(const WorkerOptions& options, const DataDir& data_dir,
                                      const std::string& host) {
  const AttachOptions controller = ControllerOf(options);
  NodeCode code;
  code.trees = std::make_shared<CodeTrees>(
      data_dir.File("code"), std::make_unique<CodeClient>(controller), data_dir.node_id());
  if (options.code_listen == "off") return code;
  TRAINYARD_ASSIGN_OR_RETURN(code.server,
                             CodePeerServer::Start(
                                 {.listen = options.code_listen, .host = host},
                                 [controller] { return ReadControllerToken(controller); },
                                 [trees = code.trees](const std::string& snapshot,
                                                      const std::vector<std::string>& digests) {
                                   return trees->Pack(snapshot, digests);
                                 }));
  code.trees->ShareAt(code.server->address());
  spdlog::info("sharing the code of jobs with other nodes on {}", code.server->address());
  return code;
}

}  // namespace trainyard::worker
