// Removes code that no job uses. Runs on its own thread.
#ifndef TRAINYARD_CONTROLLER_STORAGE_CODE_CLEANER_H_
#define TRAINYARD_CONTROLLER_STORAGE_CODE_CLEANER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "absl/status/statusor.h"
#include "controller/api/context/cluster_loop.h"
#include "controller/store/archive/job_archive.h"
#include "proto/code/blob_store.h"

namespace trainyard::controller {

class CodeCleaner {
 public:
  // `store` may be null: then Start does nothing. The other arguments must outlive this object.
  CodeCleaner(code::BlobStore* store, ClusterLoop& loop, JobArchive& archive)
      : store_(store), loop_(loop), archive_(archive) {}
  // Stops.
  ~CodeCleaner();

  void Start();
  void Stop();

  // Removes code that no job in the state or the archive uses, and returns the number of bytes
  // freed. Removes nothing if any job cannot be read. Blocks until the loop has answered.
  absl::StatusOr<int64_t> Clean(int64_t now_ms);

  static constexpr std::chrono::hours kPeriod{1};

 private:
  void Run();

  code::BlobStore* const store_;
  ClusterLoop& loop_;
  JobArchive& archive_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORAGE_CODE_CLEANER_H_
