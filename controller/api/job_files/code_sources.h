// Decides from where each node gets a code snapshot: from the controller, or from another node that
// already has it. If all nodes share code, each blob leaves the controller at most Limits::direct
// times.
//
// The first nodes are sent to the controller. Each node that has the snapshot then serves a few
// nodes at a time, so the number of nodes with the snapshot grows by a constant factor. Nodes that
// cannot be served yet wait and ask again.
#ifndef TRAINYARD_CONTROLLER_API_JOB_FILES_CODE_SOURCES_H_
#define TRAINYARD_CONTROLLER_API_JOB_FILES_CODE_SOURCES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace trainyard::controller {

// Thread-safe. The state is kept in memory only: after a restart, nodes are sent to the controller
// again.
class CodeSources {
 public:
  struct Limits {
    int direct = 3;    // Sharing nodes that are sent to the controller, per snapshot.
    int per_peer = 4;  // Nodes that fetch from one node at the same time.
    // A fetch that has not completed after this time no longer occupies its source.
    int64_t fetch_ms = 30'000;
    // A node that has waited longer is sent to the controller.
    int64_t patience_ms = 20'000;
    // Number of nodes that must fail to fetch from a node before it is no longer a source.
    std::size_t failures = 2;
    std::size_t snapshots = 256;  // The snapshots used last are kept.
    std::size_t nodes = 10'000;   // Per snapshot. Further nodes are sent to the controller.
  };

  struct Request {
    std::string snapshot;
    std::string node;     // Id of the node.
    std::string address;  // Address at which the node shares code; empty if it does not.
    std::string failed;   // Address of a source that the node could not use; empty for none.
  };

  struct Source {
    enum class Kind { kController, kPeer, kWait };
    Kind kind = Kind::kController;
    std::string peer;     // Address; only for kPeer.
    int64_t wait_ms = 0;  // Only for kWait.
  };

  CodeSources() = default;
  explicit CodeSources(Limits limits) : limits_(limits) {}

  // `now_ms` is milliseconds of a monotonic clock.
  Source Find(const Request& request, int64_t now_ms);
  // Records that the node has the snapshot. Uses `request.failed` as Find does.
  void Complete(const Request& request, int64_t now_ms);

 private:
  // A node that fetches or waits.
  struct Fetch {
    std::string source;  // Address of the other node; empty for the controller.
    bool shares = false;
    bool waits = false;
    int64_t since_ms = 0;
  };
  struct Holder {
    std::set<std::string> failed_for;  // Ids of nodes.
    int active = 0;
  };
  struct Snapshot {
    std::map<std::string, Fetch> fetches;   // By id of the node.
    std::map<std::string, Holder> holders;  // By address.
    int direct = 0;
    int64_t used_ms = 0;
  };

  Snapshot& SnapshotOf(const std::string& id, int64_t now_ms);
  void EndOverdue(Snapshot& snapshot, int64_t now_ms) const;
  static void EndFetch(Snapshot& snapshot, std::map<std::string, Fetch>::iterator fetch);
  void NoteFailure(Snapshot& snapshot, const Request& request) const;
  Source Choose(Snapshot& snapshot, const Request& request, int64_t waiting_since_ms,
                int64_t now_ms) const;

  const Limits limits_;
  std::mutex mutex_;
  std::map<std::string, Snapshot> snapshots_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOB_FILES_CODE_SOURCES_H_
