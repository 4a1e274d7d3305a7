// The offset up to which the controller has stored each stream, kept on disk for the next start of
// the worker. On a full disk the worker must know which output it can drop without loss, even
// before it reaches a controller.
#ifndef TRAINYARD_WORKER_SPOOL_STORED_OFFSETS_H_
#define TRAINYARD_WORKER_SPOOL_STORED_OFFSETS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "worker/core/stream_position.h"

namespace trainyard::worker {

// Used by one thread.
class StoredOffsets {
 public:
  explicit StoredOffsets(std::string path) : path_(std::move(path)) {}

  // Returns the positions that Keep last wrote; empty if the file is missing or unreadable. The
  // controller may have stored more since then.
  std::vector<StreamPosition> Read() const;

  // Writes the positions to disk if any position has changed. Errors are ignored: older positions
  // remain valid, because stored offsets only grow.
  void Keep(const std::vector<StreamPosition>& positions);

 private:
  const std::string path_;
  std::string kept_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_STORED_OFFSETS_H_
