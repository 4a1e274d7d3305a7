// The connection of another process to rank 0.
#ifndef TRAINYARD_DATA_LEASES_LEASE_CLIENT_H_
#define TRAINYARD_DATA_LEASES_LEASE_CLIENT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/leases/message.h"
#include "data/stages/run_blocks.h"

namespace trainyard::data {

struct LeaseClientSettings {
  std::string host;
  uint16_t port = 0;
  std::string group;
  std::string key_directory;  // LeaseServerSettings::key_directory
  int rank = 1;
  // Time that Connect waits for rank 0 to listen. Nodes can start minutes apart.
  std::chrono::milliseconds connect = std::chrono::minutes(10);
  // Rank 0 is lost if it does not answer a request for this long.
  std::chrono::milliseconds request_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds ping = std::chrono::seconds(3);
};

// Thread-safe. All errors of a lost connection have the code Unavailable.
class LeaseClient {
 public:
  // Connects, and proves the identity of both processes to each other. Returns Cancelled once
  // `cancelled` is set; FailedPrecondition if rank 0 refuses this process or cannot prove its
  // identity, and the errors of ReadLeaseKey.
  static absl::StatusOr<std::unique_ptr<LeaseClient>> Connect(const LeaseClientSettings& settings,
                                                              const std::atomic<bool>& cancelled);
  ~LeaseClient();

  struct Pass {
    uint64_t number = 0;
    std::string name;
    std::string plan;  // hash
  };
  // Waits for a pass after pass `last`. Returns nullopt if the run is complete. Returns Unavailable
  // if the run has failed.
  absl::StatusOr<std::optional<Pass>> Next(uint64_t last);

  // The blocks of a pass. The client must outlive the source.
  std::unique_ptr<BlockSource> BlocksOf(const Pass& pass);

  // Ends the run of all processes with an error of this one, and returns the error. Returns OK if
  // the pass has ended before.
  absl::Status FailRun(const Pass& pass, const absl::Status& failure);

 private:
  class Blocks;
  struct State;
  LeaseClient(const LeaseClientSettings& settings, const std::atomic<bool>& cancelled);
  absl::StatusOr<Reply> Call(const Request& request);
  // Returns Unavailable if the connection is lost, which may succeed later.
  absl::Status ProveIdentities();
  void PingUntilClosed();

  const std::unique_ptr<State> state_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_LEASES_LEASE_CLIENT_H_
