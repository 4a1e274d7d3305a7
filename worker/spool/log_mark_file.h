// Keeps the newest mark of the controller's event log (core/seen_log.h) on disk.
#ifndef TRAINYARD_WORKER_SPOOL_LOG_MARK_FILE_H_
#define TRAINYARD_WORKER_SPOOL_LOG_MARK_FILE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::worker {

class LogMarkFile {
 public:
  explicit LogMarkFile(std::string path) : path_(std::move(path)) {}

  // Returns the mark that Keep last wrote for this cluster. Returns an empty mark if there is none,
  // if the file is damaged, or if the mark belongs to another cluster.
  v1::LogMark Read(const std::string& cluster_id) const;

  // Returns OK only when the mark is durable.
  absl::Status Keep(const v1::LogMark& mark, const std::string& cluster_id) const;

 private:
  const std::string path_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_LOG_MARK_FILE_H_
