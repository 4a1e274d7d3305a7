// The calls with which a worker gets the code of jobs.
#ifndef TRAINYARD_WORKER_RPC_CODE_NETWORK_H_
#define TRAINYARD_WORKER_RPC_CODE_NETWORK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/code_service.pb.h"

namespace trainyard::worker {

// Calls to the controller and to other nodes. Implementations are thread-safe. All calls block.
class CodeNetwork {
 public:
  virtual ~CodeNetwork() = default;

  // See FindCodeSource in code_service.proto.
  virtual absl::StatusOr<v1::FindCodeSourceResponse> FindSource(
      const v1::FindCodeSourceRequest& request) = 0;
  // Returns a pack with the first of these blobs, as many as fit.
  virtual absl::StatusOr<std::string> FetchFromController(
      const std::vector<std::string>& digests) = 0;
  // Like FetchFromController, from the node with this address, for a few seconds at most. The
  // contents of the pack are not checked.
  virtual absl::StatusOr<std::string> FetchFromPeer(const std::string& address,
                                                    const std::string& snapshot,
                                                    const std::vector<std::string>& digests) = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RPC_CODE_NETWORK_H_
