// How far the controller has stored each stream, written down for the next start of the worker: on
// a disk without room it must know which output nobody will miss before a controller answers.
#ifndef TRAINYARD_WORKER_SPOOL_STORED_OFFSETS_H_
#define TRAINYARD_WORKER_SPOOL_STORED_OFFSETS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// How far a stream is stored by the controller.
struct StreamPosition {
  v1::StreamId id;
  int64_t acknowledged = 0;
};

// One thread.
class StoredOffsets {
 public:
  explicit StoredOffsets(std::string path) : path_(std::move(path)) {}

  // What was kept last; empty when there is nothing that can be read. It may be behind.
  std::vector<StreamPosition> Read() const;

  // Writes the positions down when they have changed. Best effort: what was kept before is right as
  // far as it goes.
  void Keep(const std::vector<StreamPosition>& positions);

 private:
  const std::string path_;
  std::string kept_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_STORED_OFFSETS_H_
