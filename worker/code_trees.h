// The code of jobs on this node.
#ifndef TRAINYARD_WORKER_CODE_TREES_H_
#define TRAINYARD_WORKER_CODE_TREES_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/code/tree_cache.h"
#include "trainyard/v1/job_spec.pb.h"
#include "worker/recent_packs.h"
#include "worker/rpc/code_network.h"

namespace trainyard::worker {

// Thread-safe.
class CodeTrees {
 public:
  // `node` is the id of this node.
  CodeTrees(std::string directory, std::unique_ptr<CodeNetwork> network, std::string node)
      : cache_({.directory = std::move(directory)}),
        network_(std::move(network)),
        node_(std::move(node)) {}

  // Sets the address at which other nodes fetch code from this node. By default, there is none.
  void ShareAt(std::string address);

  // Returns the directory with the job's code: the unpacked snapshot, or code.path for a job that
  // runs in place. Empty if the job has no code.
  std::string DirectoryOf(const v1::JobSpec& spec) const;

  // Sets the snapshots of all attempts on this node. They are not removed.
  void SetInUse(std::set<std::string> snapshots);

  // Fetches and unpacks the snapshot if the node does not have it, and removes trees that no
  // attempt uses if all trees together are too large. Blocks.
  absl::Status Prepare(const std::string& snapshot);

  // Returns a pack for another node: one that this node has received, or one of its files
  // (TreeCache::Fetch).
  absl::StatusOr<std::string> Pack(const std::string& snapshot,
                                   const std::vector<std::string>& digests);

 private:
  absl::Status Fetch(const std::string& snapshot);

  code::TreeCache cache_;
  RecentPacks packs_;
  const std::unique_ptr<CodeNetwork> network_;
  const std::string node_;
  std::mutex mutex_;
  std::string address_;
  std::set<std::string> in_use_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CODE_TREES_H_
