// Streams between workers and controllers. A stream delivers its messages in order until it is
// closed, and later during a partition.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_LINKS_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_LINKS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "tests/simulation/store/world.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::simulation {

class Links {
 public:
  struct Receivers {
    std::function<void(int member, int64_t link, int node, v1::WorkerMessage message)> member;
    std::function<void(int node, int64_t link, v1::ControllerMessage message)> node;
    std::function<void(int member, int64_t link)> member_closed;
    std::function<void(int node, int64_t link)> node_closed;
  };

  Links(World& world, Receivers receivers) : world_(world), receivers_(std::move(receivers)) {}

  // Opens a stream. Numbers are never reused.
  int64_t Open(int node, int member);
  void ToMember(int64_t link, v1::WorkerMessage message);
  void ToNode(int64_t link, v1::ControllerMessage message);
  // Closes the stream. Messages in transit are lost, and both ends are notified.
  void Close(int64_t link);
  void CloseAllOf(int member);

 private:
  struct Link {
    int node = 0;
    int member = 0;
    std::deque<std::function<void()>> to_member;
    std::deque<std::function<void()>> to_node;
  };
  using Queue = std::deque<std::function<void()>> Link::*;

  void Send(int64_t link, Queue queue, std::function<void()> deliver);
  void Deliver(int64_t link, Queue queue, int64_t ms);
  // Calls `notify` once no partition of the controller prevents it.
  void NotifyClosed(int member, std::function<void()> notify);

  World& world_;
  const Receivers receivers_;
  std::map<int64_t, Link> links_;
  int64_t last_link_ = 0;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_LINKS_H_
