// Keeps the newest mark of an event log in PostgreSQL in the controller's data directory. If a
// fail-over of the database loses events, the marks inside the database are lost, too.
#ifndef TRAINYARD_CONTROLLER_STORAGE_LOG_MARK_KEEPER_H_
#define TRAINYARD_CONTROLLER_STORAGE_LOG_MARK_KEEPER_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the file of the mark in a data directory.
std::string LogMarkFileIn(const std::string& data_directory);

// Returns the mark that a keeper has written for this cluster. Empty if there is none, if the file
// is damaged, or if the mark belongs to another cluster.
v1::LogMark ReadLogMarkFile(const std::string& path, const std::string& cluster_id);

class LogMarkKeeper {
 public:
  static constexpr std::chrono::milliseconds kInterval{1'000};

  // Writes at most once per interval. If `path` is empty, Start does nothing.
  LogMarkKeeper(std::string path, std::string cluster_id,
                std::chrono::milliseconds interval = kInterval);
  // Stops.
  ~LogMarkKeeper();

  void Start();
  // Writes the newest mark if it is not written yet.
  void Stop();

  // Sets the mark of the newest durable event. Does not wait. May be called on any thread.
  void Note(const v1::LogMark& mark);

 private:
  void Run();
  // Writes and clears `noted_`. A failed write restores it, and is logged once.
  void Write(std::unique_lock<std::mutex>& lock);

  const std::string path_;
  const std::string cluster_id_;
  const std::chrono::milliseconds interval_;
  bool failed_ = false;  // Used only on the thread.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<v1::LogMark> noted_;  // Not written yet. Guarded by mutex_.
  bool stopping_ = false;             // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORAGE_LOG_MARK_KEEPER_H_
