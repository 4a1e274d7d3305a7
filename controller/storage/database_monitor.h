// The thread that reads the facts about the database server for GetServerInfo and Prometheus.
#ifndef TRAINYARD_CONTROLLER_STORAGE_DATABASE_MONITOR_H_
#define TRAINYARD_CONTROLLER_STORAGE_DATABASE_MONITOR_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "controller/store/support/database_probe.h"
#include "proto/support/clock.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

class DatabaseMonitor {
 public:
  static constexpr std::chrono::milliseconds kInterval{10'000};

  // If `probe` is null, the stores are not in a database server, and Start does nothing. `probe`
  // and `clock` must outlive this object.
  DatabaseMonitor(DatabaseProbe* probe, const Clock& clock,
                  std::chrono::milliseconds interval = kInterval);
  // Stops.
  ~DatabaseMonitor();

  void Start();
  // Waits for the end of a read, which takes at most a few seconds.
  void Stop();

  // Adds the newest facts, and the error of the newest read. Adds nothing without a database
  // server. May be called on any thread, and does not wait for a read.
  void AddTo(v1::GetServerInfoResponse& info) const;

 private:
  void Run();
  void Read();

  DatabaseProbe* const probe_;
  const Clock& clock_;
  const std::chrono::milliseconds interval_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // Guarded by mutex_.
  DatabaseFacts facts_;    // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORAGE_DATABASE_MONITOR_H_
