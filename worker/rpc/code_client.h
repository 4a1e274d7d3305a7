// Fetches the code of jobs from the controller and from other nodes.
#ifndef TRAINYARD_WORKER_RPC_CODE_CLIENT_H_
#define TRAINYARD_WORKER_RPC_CODE_CLIENT_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/access/controller_list.h"
#include "worker/rpc/attach_options.h"
#include "worker/rpc/code_network.h"

namespace grpc {
class Channel;
}

namespace trainyard::worker {

// Uses a connection of its own, so that large packs do not delay heartbeats. Thread-safe.
class CodeClient final : public CodeNetwork {
 public:
  explicit CodeClient(AttachOptions options)
      : options_(ForSeveral(std::move(options))), controllers_(options_.controllers) {}

  absl::StatusOr<v1::FindCodeSourceResponse> FindSource(
      const v1::FindCodeSourceRequest& request) override;
  // While the controller cannot be reached, tries again for kPatience. Other errors: see FetchCode
  // in code_service.proto.
  absl::StatusOr<std::string> FetchFromController(const std::vector<std::string>& digests) override;
  absl::StatusOr<std::string> FetchFromPeer(const std::string& address, const std::string& snapshot,
                                            const std::vector<std::string>& digests) override;

  static constexpr std::chrono::seconds kPatience{60};

 private:
  absl::StatusOr<std::string> FetchOnce(const std::vector<std::string>& digests);
  absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect();
  void Drop(const std::shared_ptr<grpc::Channel>& channel);

  const AttachOptions options_;
  std::mutex mutex_;
  ControllerList controllers_;              // Guarded by mutex_.
  std::shared_ptr<grpc::Channel> channel_;  // Null before the first call and after an error.
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RPC_CODE_CLIENT_H_
