// Messages between workers and the controller that are dropped, delayed, duplicated and reordered.
#ifndef TRAINYARD_TESTS_SIMULATION_NETWORK_H_
#define TRAINYARD_TESTS_SIMULATION_NETWORK_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "proto/support/clock.h"
#include "tests/simulation/random.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::simulation {

struct NetworkFaults {
  double drop = 0;
  double duplicate = 0;
  int64_t delay_ms_max = 50;
};

// A message on its way between a node and the controller.
struct Envelope {
  std::string node_id;
  // A stream: a worker that attaches again uses a greater number.
  int64_t connection = 0;
  // The process that the stream ends at: what is on its way to a dead one is lost.
  int64_t controller_generation = 0;
  std::variant<v1::WorkerMessage, v1::ControllerMessage> message;
};

class Network {
 public:
  explicit Network(Random& random) : random_(random) {}

  void SetFaults(const NetworkFaults& faults) { faults_ = faults; }
  void Partition(const std::string& node_id) { partitioned_.insert(node_id); }
  void Heal(const std::string& node_id) { partitioned_.erase(node_id); }
  bool IsPartitioned(const std::string& node_id) const { return partitioned_.contains(node_id); }

  void Send(const Envelope& envelope, Timestamp now) {
    if (random_.Chance(faults_.drop)) return;
    const int copies = random_.Chance(faults_.duplicate) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      const Timestamp due = now + random_.Between(1, faults_.delay_ms_max);
      on_their_way_.emplace(std::make_pair(due, ++sent_), envelope);
    }
  }

  // Messages that arrive now, in order. What meets a partition is lost.
  std::vector<Envelope> Deliver(Timestamp now) {
    std::vector<Envelope> arrived;
    while (!on_their_way_.empty() && on_their_way_.begin()->first.first <= now) {
      Envelope& envelope = on_their_way_.begin()->second;
      if (!IsPartitioned(envelope.node_id)) arrived.push_back(std::move(envelope));
      on_their_way_.erase(on_their_way_.begin());
    }
    return arrived;
  }

 private:
  Random& random_;
  NetworkFaults faults_;
  std::set<std::string> partitioned_;
  int64_t sent_ = 0;
  std::map<std::pair<Timestamp, int64_t>, Envelope> on_their_way_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_NETWORK_H_
