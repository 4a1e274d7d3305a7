// Snapshots of the state, made on a thread of their own out of the event log alone: the loop only
// says that one is due. 10,000 jobs take a quarter of a second, in which no request would be
// answered.
#ifndef TRAINYARD_CONTROLLER_SNAPSHOT_WRITER_H_
#define TRAINYARD_CONTROLLER_SNAPSHOT_WRITER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "controller/core/cluster_state.h"
#include "controller/store/event_log.h"

namespace trainyard::controller {

// The state that the log tells.
ClusterState StateOf(EventLog::Recovery recovery);

class SnapshotWriter {
 public:
  // `event_log` outlives the writer.
  explicit SnapshotWriter(EventLog& event_log) : event_log_(event_log) {}
  // Stops.
  ~SnapshotWriter();

  // `observe` is called on the writer's thread with what each snapshot took, in seconds.
  void Start(std::function<void(double seconds)> observe);
  // Finishes what it was asked for, then ends the thread.
  void Stop();

  // Asks for the state as it was after this event, which is durable. False, and nothing happens,
  // while the one before is not done.
  bool Request(uint64_t sequence);

 private:
  void Run();
  void Write(uint64_t sequence);

  EventLog& event_log_;
  std::function<void(double)> observe_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_. Stays until the snapshot is written.
  std::optional<uint64_t> wanted_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_SNAPSHOT_WRITER_H_
