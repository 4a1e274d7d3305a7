// Fetches the code of jobs from the controller.
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

namespace grpc {
class Channel;
}

namespace trainyard::worker {

// Uses a connection of its own, so that large packs do not delay heartbeats. Thread-safe.
class CodeClient {
 public:
  explicit CodeClient(AttachOptions options)
      : options_(ForSeveral(std::move(options))), controllers_(options_.controllers) {}

  // Returns a pack with the first of these blobs, as many as fit. Blocks. While the controller
  // cannot be reached, tries again for kPatience. Other errors: see FetchCode in
  // code_service.proto.
  absl::StatusOr<std::string> Fetch(const std::vector<std::string>& digests);

  static constexpr std::chrono::seconds kPatience{60};

 private:
  absl::StatusOr<std::string> FetchOnce(const std::vector<std::string>& digests);
  absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect();

  const AttachOptions options_;
  std::mutex mutex_;
  ControllerList controllers_;              // Guarded by mutex_.
  std::shared_ptr<grpc::Channel> channel_;  // Null before the first call and after an error.
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RPC_CODE_CLIENT_H_
