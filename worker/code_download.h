// Downloads one code snapshot to this node: from other nodes that have it, or from the controller.
#ifndef TRAINYARD_WORKER_CODE_DOWNLOAD_H_
#define TRAINYARD_WORKER_CODE_DOWNLOAD_H_

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/code/blob_pack.h"
#include "trainyard/v1/code_service.pb.h"
#include "worker/recent_packs.h"
#include "worker/rpc/code_network.h"

namespace trainyard::worker {

// Used by one thread.
class CodeDownload {
 public:
  struct Node {
    std::string id;
    std::string
        address;  // At which other nodes fetch code from this node; empty if it shares none.
  };

  // Keeps the received packs in `packs`. `network` and `packs` must outlive this object.
  CodeDownload(CodeNetwork& network, RecentPacks& packs, std::string snapshot, Node node)
      : network_(network), packs_(packs), snapshot_(std::move(snapshot)), node_(std::move(node)) {}

  // Returns the first of these blobs, at least one, each with its digest. A node that cannot be
  // reached, is slow, or sends anything else is replaced by another source. Returns only errors of
  // the controller.
  absl::StatusOr<std::vector<code::Blob>> Fetch(const std::vector<std::string>& digests);

  // Name of the source that was used last, for the log.
  std::string source() const { return peer_.empty() ? "the controller" : "the node at " + peer_; }

  // Reports to the controller that this node has the snapshot and can share it.
  void Complete();

  // After this many failed nodes, the download uses the controller.
  static constexpr int kMaxFailures = 4;
  // The longest wait for another node. The controller has a shorter limit; this one bounds the wait
  // even if the controller fails.
  static constexpr std::chrono::seconds kMaxWait{60};

 private:
  v1::FindCodeSourceRequest Request() const;
  void ChooseSource();
  absl::StatusOr<std::vector<code::Blob>> FetchFromPeer(
      const std::vector<std::string>& digests) const;

  CodeNetwork& network_;
  RecentPacks& packs_;
  const std::string snapshot_;
  const Node node_;
  bool is_chosen_ = false;
  std::string peer_;    // Address of the source; empty for the controller.
  std::string failed_;  // Address of a source that failed and was not reported yet.
  int failures_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CODE_DOWNLOAD_H_
