// Leases the blocks of rank 0 to other processes over TCP.
#ifndef TRAINYARD_DATA_LEASES_LEASE_SERVER_H_
#define TRAINYARD_DATA_LEASES_LEASE_SERVER_H_

#include <chrono>
#include <cstddef>
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
  // The server creates its key in this directory. All processes share the directory. No other
  // server may create keys in it.
  std::string key_directory;
  // Time in which a new connection must prove its identity. Later connections are closed.
  std::chrono::milliseconds handshake = std::chrono::seconds(10);
  // A connection without a request for this long is closed, for example if a machine has lost its
  // power. The leases of a closed connection return to the queue.
  std::chrono::milliseconds request_timeout = std::chrono::seconds(30);
  // Number of other processes of the run.
  size_t peers = 0;
  // Time that Finish waits for the other processes.
  std::chrono::milliseconds farewell = std::chrono::seconds(10);
};

// Thread-safe. The server has a thread of its own.
class LeaseServer {
 public:
  // Returns Aborted if the port is in use, and the errors of LeaseKey::Create.
  static absl::StatusOr<std::unique_ptr<LeaseServer>> Start(const LeaseServerSettings& settings);
  // Closes all connections.
  ~LeaseServer();

  uint16_t port() const;

  // Begins a pass. `plan` is the hash of its plan. `queue` must live until Close.
  void Open(const std::string& name, const std::string& plan, BlockQueue* queue);
  void Close();

  // Reports to the other processes that the run is complete or has failed, and waits until they
  // have closed their connections. If the run is complete, also waits for processes that have not
  // connected yet.
  void Finish(const absl::Status& result);

  // The rank of a holder of blocks. 0 for this process, and for a process that is no longer
  // connected.
  int RankOf(int holder) const;
  // Number of connected processes that have proved their identity.
  int peers() const;

 private:
  struct State;
  explicit LeaseServer(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_LEASES_LEASE_SERVER_H_
