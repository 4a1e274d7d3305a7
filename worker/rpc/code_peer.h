// Shares the code of jobs between nodes. Connections are not encrypted, but packs are
// (proto/proof/sealed_code.h), and only callers that know the controller's token get any.
#ifndef TRAINYARD_WORKER_RPC_CODE_PEER_H_
#define TRAINYARD_WORKER_RPC_CODE_PEER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::worker {

// Returns the controller's token. Called for each request, because the token may be replaced.
using ReadCodeToken = std::function<absl::StatusOr<std::string>()>;

// Returns a pack with the first of these blobs of a snapshot, as many as fit. NOT_FOUND: this node
// lacks the first blob.
using PackCode = std::function<absl::StatusOr<std::string>(
    const std::string& snapshot, const std::vector<std::string>& digests)>;

// Serves code to other nodes on threads of its own.
class CodePeerServer {
 public:
  struct Options {
    // IP:PORT to listen on; port 0 selects a free port.
    std::string listen;
    // Host of the shared address if `listen` names all addresses of this machine (0.0.0.0 or ::).
    std::string host;
    int max_calls = 16;  // Further calls are refused.
  };

  // INVALID_ARGUMENT: `listen` is not an address. UNAVAILABLE: cannot listen on the address. The
  // messages contain the remedy.
  static absl::StatusOr<std::unique_ptr<CodePeerServer>> Start(const Options& options,
                                                               ReadCodeToken token, PackCode pack);
  // Ends all calls.
  ~CodePeerServer();

  // HOST:PORT at which other nodes reach this server.
  const std::string& address() const;

 private:
  struct Parts;
  explicit CodePeerServer(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

// Fetches a pack from the node at `address`. Returns an error after kPeerLimit at the latest.
// PERMISSION_DENIED: the node has another token, or the answer was modified.
absl::StatusOr<std::string> FetchCodeFromPeer(const std::string& address, const std::string& token,
                                              const std::string& snapshot,
                                              const std::vector<std::string>& digests);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RPC_CODE_PEER_H_
