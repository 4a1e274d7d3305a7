// The code of jobs on this node.
#ifndef TRAINYARD_WORKER_CODE_TREES_H_
#define TRAINYARD_WORKER_CODE_TREES_H_

#include <mutex>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "proto/code/tree_cache.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::worker {

// Thread-safe.
class CodeTrees {
 public:
  CodeTrees(std::string directory, code::FetchBlobs fetch)
      : cache_({.directory = std::move(directory)}), fetch_(std::move(fetch)) {}

  // Returns the directory with the job's code: the unpacked snapshot, or code.path for a job that
  // runs in place. Empty if the job has no code.
  std::string DirectoryOf(const v1::JobSpec& spec) const;

  // Sets the snapshots of all attempts on this node. They are not removed.
  void SetInUse(std::set<std::string> snapshots);

  // Fetches and unpacks the snapshot if the node does not have it, and removes trees that no
  // attempt uses if all trees together are too large. Blocks.
  absl::Status Prepare(const std::string& snapshot);

 private:
  code::TreeCache cache_;
  const code::FetchBlobs fetch_;
  std::mutex mutex_;
  std::set<std::string> in_use_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CODE_TREES_H_
