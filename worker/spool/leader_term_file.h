// Keeps the highest term of a leader that this node has seen (core/term_fence.h) on disk.
#ifndef TRAINYARD_WORKER_SPOOL_LEADER_TERM_FILE_H_
#define TRAINYARD_WORKER_SPOOL_LEADER_TERM_FILE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace trainyard::worker {

class LeaderTermFile {
 public:
  explicit LeaderTermFile(std::string path) : path_(std::move(path)) {}

  // Returns the term that Keep last wrote for this cluster. Returns 1 if there is none, if the file
  // is damaged, or if the term belongs to another cluster.
  int64_t Read(const std::string& cluster_id) const;

  // Returns OK only when the term is durable.
  absl::Status Keep(int64_t term, const std::string& cluster_id) const;

 private:
  const std::string path_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_LEADER_TERM_FILE_H_
