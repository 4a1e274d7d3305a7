// The streams between workers and the controller. Like a gRPC stream, each stream delivers its
// messages in order and without loss until it breaks. When a stream breaks, all messages in transit
// are lost, and the two ends are notified at different times.
#ifndef TRAINYARD_TESTS_SIMULATION_WORLD_NETWORK_H_
#define TRAINYARD_TESTS_SIMULATION_WORLD_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "proto/support/clock.h"
#include "tests/simulation/world/random.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::simulation {

struct NetworkFaults {
  // Probability per message that the stream breaks.
  double break_stream = 0;
  int64_t delay_ms_max = 50;
};

enum class End { kWorker, kController };

struct StreamClosed {};
// The next message that arrives at one end of a stream, or the end of the stream.
struct Arrival {
  int64_t stream = 0;
  std::string node_id;
  std::variant<v1::WorkerMessage, v1::ControllerMessage, StreamClosed> message;
};

class Network {
 public:
  explicit Network(Random& random) : random_(random) {}

  void SetFaults(const NetworkFaults& faults) { faults_ = faults; }
  // While the node is partitioned, the messages of its
  // streams to one end or to both ends are delayed. A stream
  // breaks if the delay exceeds the stream's keepalive time.
  void Partition(const std::string& node_id,
                 const std::set<End>& cut_off = {End::kWorker, End::kController}) {
    partitioned_[node_id] = cut_off;
  }
  void Heal(const std::string& node_id) { partitioned_.erase(node_id); }

  // Opens a stream of the node's worker. Stream numbers are never reused.
  int64_t Open(const std::string& node_id);
  // Queues a message to the other end. The message is lost if that end is closed.
  void Send(int64_t stream, v1::WorkerMessage message, Timestamp now);
  void Send(int64_t stream, v1::ControllerMessage message, Timestamp now);
  // Closes the stream at one end. The other end still receives the messages sent before the close,
  // followed by the close.
  void Close(int64_t stream, End by, Timestamp now);
  // Breaks the connection. Messages in transit are lost, and both ends are notified later.
  void Break(int64_t stream, Timestamp now);
  // Kills the process at this end of all streams, or of only the streams of `node_id` if it is not
  // "".
  void Kill(End end, const std::string& node_id, Timestamp now);

  // Returns everything that arrives at this end now, in order. Nothing arrives on the streams of a
  // frozen node.
  std::vector<Arrival> Deliver(End end, const std::function<bool(const std::string&)>& is_frozen,
                               Timestamp now);

  // These functions return the number of messages in transit to the worker, and the number of
  // messages that have arrived at the worker.
  std::size_t WaitingForWorker(int64_t stream) const;
  uint64_t TakenByWorker(int64_t stream) const;

 private:
  struct Queued {
    Timestamp due = 0;
    std::variant<v1::WorkerMessage, v1::ControllerMessage, StreamClosed> message;
  };
  // One end of a stream, with the messages in transit to it.
  struct Side {
    std::deque<Queued> queue;
    Timestamp last_due = 0;
    uint64_t arrived = 0;
    // True if this end has closed the stream or knows that the other end has closed it.
    bool closed = false;
  };
  struct Stream {
    std::string node_id;
    Side to_worker;
    Side to_controller;
    // Time at which the partition that delays the stream began; 0 if there is none.
    Timestamp waits_since = 0;
    Side& To(End end) { return end == End::kWorker ? to_worker : to_controller; }
  };

  template <typename Message>
  void Queue(int64_t stream, End to, Message message, Timestamp now);
  void CloseSide(Side& side, Timestamp when);
  bool IsCutOff(const std::string& node_id, End end) const;
  void BreakStalled(Timestamp now);

  Random& random_;
  NetworkFaults faults_;
  // For each partitioned node, the ends to which messages of its streams are delayed.
  std::map<std::string, std::set<End>> partitioned_;
  int64_t last_stream_ = 0;
  std::map<int64_t, Stream> streams_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_WORLD_NETWORK_H_
