// The open exec sessions of the controller.
#ifndef TRAINYARD_CONTROLLER_RPC_EXEC_TABLE_H_
#define TRAINYARD_CONTROLLER_RPC_EXEC_TABLE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "controller/core/support/token_bucket.h"
#include "controller/rpc/exec_relay.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Thread-safe.
class ExecTable {
 public:
  // Counts a new session against the rate limit, which bounds the events and the processes that
  // sessions cause. RESOURCE_EXHAUSTED: too many sessions were opened recently.
  absl::Status Admit(Timestamp now);

  // RESOURCE_EXHAUSTED: the node, or the controller, has too many open sessions.
  absl::Status Add(const std::string& id, const std::string& node_id,
                   std::shared_ptr<ExecRelay> relay);
  // Returns the session, for the worker's stream. Returns nullptr if there is no session with this
  // id, or if a stream has claimed it before.
  std::shared_ptr<ExecRelay> Claim(const std::string& id);
  void Remove(const std::string& id);

  static constexpr std::size_t kMost = 256;
  static constexpr int64_t kAtOnce = 60;
  static constexpr int64_t kPerMinute = 600;

 private:
  struct Entry {
    std::string node_id;
    // Null after Claim.
    std::shared_ptr<ExecRelay> relay;
  };

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, Entry> sessions_;
  TokenBucket rate_{kAtOnce, kPerMinute};
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_EXEC_TABLE_H_
