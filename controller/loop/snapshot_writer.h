// Writes snapshots of the state on its own thread. A snapshot of 10,000 jobs takes a quarter of a
// second, during which the loop could answer no request if it wrote the snapshot itself. The loop
// only requests snapshots. The thread rebuilds the state from the event log.
#ifndef TRAINYARD_CONTROLLER_LOOP_SNAPSHOT_WRITER_H_
#define TRAINYARD_CONTROLLER_LOOP_SNAPSHOT_WRITER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "controller/core/state/cluster_state.h"
#include "controller/store/events/event_log.h"

namespace trainyard::controller {

// Returns the state that results from a snapshot and the events after it.
ClusterState StateOf(EventLog::Recovery recovery);

class SnapshotWriter {
 public:
  // `event_log` must outlive the writer.
  explicit SnapshotWriter(EventLog& event_log) : event_log_(event_log) {}
  // Stops.
  ~SnapshotWriter();

  // Starts the thread. The thread calls `observe` with the duration of each snapshot in
  // seconds.
  void Start(std::function<void(double seconds)> observe);
  // Finishes the requested snapshot, if there is one, and then ends the thread.
  void Stop();

  // Requests a snapshot of the state after event `sequence`, which must be durable. Returns false
  // and does nothing if an earlier snapshot is unfinished.
  bool Request(uint64_t sequence);

 private:
  void Run();
  void Write(uint64_t sequence);

  EventLog& event_log_;
  std::function<void(double)> observe_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // The requested sequence number. Reset when the snapshot is written. Guarded by mutex_.
  std::optional<uint64_t> wanted_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_SNAPSHOT_WRITER_H_
