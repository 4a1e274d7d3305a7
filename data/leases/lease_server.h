// Leases the blocks of rank 0 to other processes over TCP.
#ifndef TRAINYARD_DATA_LEASES_LEASE_SERVER_H_
#define TRAINYARD_DATA_LEASES_LEASE_SERVER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/stages/block_queue.h"

namespace trainyard::data {

struct LeaseServerSettings {
  uint16_t port = 0;  // 0: any free port
  // Processes of another group are refused.
  std::string group;
  // A connection without a request for this long is closed, for example if a machine has lost its
  // power. The leases of a closed connection return to the queue.
  std::chrono::milliseconds request_timeout = std::chrono::seconds(30);
  // Time that Finish waits for the other processes.
  std::chrono::milliseconds farewell = std::chrono::seconds(10);
};

// Thread-safe. The server has a thread of its own.
class LeaseServer {
 public:
  // Returns Aborted if the port is in use.
  static absl::StatusOr<std::unique_ptr<LeaseServer>> Start(const LeaseServerSettings& settings);
  // Closes all connections.
  ~LeaseServer();

  uint16_t port() const;

  // Begins a pass. `plan` is the hash of its plan. `queue` must live until Close.
  void Open(const std::string& name, const std::string& plan, BlockQueue* queue);
  void Close();

  // Reports to the other processes that the run is complete or has failed, and waits until they
  // have closed their connections.
  void Finish(const absl::Status& result);

  // Number of connected processes.
  int peers() const;

 private:
  struct State;
  explicit LeaseServer(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_LEASES_LEASE_SERVER_H_
