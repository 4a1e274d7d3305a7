// The streams between workers and the controller. Like a gRPC stream, each delivers its messages in
// order and without loss until it breaks. Then all messages in transit are lost, and the two ends
// learn of it at different times.
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
  // Probability that a stream breaks at a message.
  double break_stream = 0;
  int64_t delay_ms_max = 50;
};

enum class End { kWorker, kController };

struct StreamClosed {};
// The next message of a stream at one of its ends, or the end of the stream there.
struct Arrival {
  int64_t stream = 0;
  std::string node_id;
  std::variant<v1::WorkerMessage, v1::ControllerMessage, StreamClosed> message;
};

class Network {
 public:
  explicit Network(Random& random) : random_(random) {}

  void SetFaults(const NetworkFaults& faults) { faults_ = faults; }
  // While the node is partitioned, messages of its streams to one or both ends are held back. A
  // stream held back longer than keepalives permit breaks.
  void Partition(const std::string& node_id,
                 const std::set<End>& cut_off = {End::kWorker, End::kController}) {
    partitioned_[node_id] = cut_off;
  }
  void Heal(const std::string& node_id) { partitioned_.erase(node_id); }

  // Opens a stream of the node's worker. Stream numbers are never reused.
  int64_t Open(const std::string& node_id);
  // Queues a message to the other end. A message to a closed end is lost.
  void Send(int64_t stream, v1::WorkerMessage message, Timestamp now);
  void Send(int64_t stream, v1::ControllerMessage message, Timestamp now);
  // One end closes the stream. Its earlier messages still arrive before the other end learns of it.
  void Close(int64_t stream, End by, Timestamp now);
  // The connection breaks: messages in transit are lost, and both ends learn of it later.
  void Break(int64_t stream, Timestamp now);
  // The process at this end has died, for all streams or for those of one node.
  void Kill(End end, const std::string& node_id, Timestamp now);

  // Everything that arrives at this end now, in order; nothing for a frozen node.
  std::vector<Arrival> Deliver(End end, const std::function<bool(const std::string&)>& is_frozen,
                               Timestamp now);

  // Messages in transit to the worker, plus those that have arrived there.
  std::size_t WaitingForWorker(int64_t stream) const;
  uint64_t TakenByWorker(int64_t stream) const;

 private:
  struct Queued {
    Timestamp due = 0;
    std::variant<v1::WorkerMessage, v1::ControllerMessage, StreamClosed> message;
  };
  // Messages in transit to one end.
  struct Side {
    std::deque<Queued> queue;
    Timestamp last_due = 0;
    uint64_t arrived = 0;
    // This end has closed the stream or knows that it was closed.
    bool closed = false;
  };
  struct Stream {
    std::string node_id;
    Side to_worker;
    Side to_controller;
    // Start of the partition that holds back the stream; 0 if none.
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
  // For each node, the ends that messages do not reach.
  std::map<std::string, std::set<End>> partitioned_;
  int64_t last_stream_ = 0;
  std::map<int64_t, Stream> streams_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_WORLD_NETWORK_H_
