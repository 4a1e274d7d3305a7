// Checks the stores in the background: reads every page of the three databases again and again, at
// a low rate. The check finds damage to rarely read pages while intact backups still exist.
#ifndef TRAINYARD_CONTROLLER_STORAGE_STORE_SCRUBBER_H_
#define TRAINYARD_CONTROLLER_STORAGE_STORE_SCRUBBER_H_

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "controller/api/context/storage_health.h"
#include "controller/store/files/store_check.h"
#include "proto/support/clock.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

struct ScrubOptions {
  // The bytes per read. With the pause after each read, the rate is 4 MiB/s.
  int64_t bytes = 4 << 20;
  std::chrono::milliseconds pause{1000};
  // Pause after a pass over all databases (one hour).
  std::chrono::milliseconds rest{3'600'000};
};

class StoreScrubber {
 public:
  // If `data_dir` is empty, the stores are in memory, and Start does nothing. `health` and `clock`
  // must outlive this object.
  StoreScrubber(std::string data_dir, StorageHealth& health, const Clock& clock,
                ScrubOptions options = {});
  // Stops.
  ~StoreScrubber();

  void Start();
  void Stop();

  // May be called on any thread.
  std::vector<v1::StoreScrub> Report() const;

 private:
  // State of one database. `report` is guarded by mutex_. Only the scrubber thread uses `pages`.
  struct Database {
    StoreName store;
    std::string path;
    PageScrub pages;
    v1::StoreScrub report;
  };

  void Run();
  // Returns false after Stop was called.
  bool Scrub(Database& database);
  bool Pause(std::chrono::milliseconds time);
  void Note(Database& database, const absl::StatusOr<bool>& step, std::size_t known_damage);

  StorageHealth& health_;
  const Clock& clock_;
  const ScrubOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::vector<Database> databases_;
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORAGE_STORE_SCRUBBER_H_
