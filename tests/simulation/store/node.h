// A worker with the rule of worker/core/term_fence.h. Its ranks run until they are stopped.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_NODE_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_NODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/contract/attempt_key.h"
#include "tests/simulation/store/world.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/seen_log.h"
#include "worker/core/term_fence.h"

namespace trainyard::simulation {

class Node {
 public:
  struct Stream {
    // Opens a stream to some controller and returns its number.
    std::function<int64_t()> open;
    std::function<void(int64_t link, v1::WorkerMessage message)> send;
    std::function<void(int64_t link)> close;
  };

  // `sends_term`: Hello contains the highest term that the node has seen.
  Node(std::string id, bool sends_term, World& world, Stream stream)
      : id_(std::move(id)), sends_term_(sends_term), world_(world), stream_(std::move(stream)) {}

  void Start() { Step(); }
  void Receive(int64_t link, const v1::ControllerMessage& message);
  void Closed(int64_t link);
  // Ends the stream. The node opens another one.
  void BreakLink() { Closed(link_); }

  const std::string& id() const { return id_; }
  bool IsAttached() const { return welcomed_; }
  bool sends_term() const { return sends_term_; }
  int64_t refused_messages() const { return refused_messages_; }
  // The number of facts, and the number of them that the controller has acknowledged.
  std::size_t facts() const { return facts_.size(); }
  uint64_t acknowledged_facts() const { return acknowledged_; }

 private:
  struct Attempt {
    std::vector<int> ranks;
    bool cleared = false;
  };

  void Step();
  void Dial();
  void Disconnect();
  void Obey(const v1::ControllerMessage& message);
  void StartAttempt(const v1::StartAttempt& command);
  void StopAttempt(const v1::StopAttempt& command);
  void Clear(const AttemptKey& key, Attempt& attempt);
  void AddFact(v1::Fact fact);
  void SendFactsAfter(uint64_t sequence);
  void Report(google::protobuf::RepeatedPtrField<v1::AttemptReport>& reports) const;

  const std::string id_;
  const bool sends_term_;
  World& world_;
  const Stream stream_;
  int64_t link_ = 0;  // 0 if there is no stream.
  bool welcomed_ = false;
  Timestamp dial_at_ms_ = 0;
  Timestamp welcome_until_ms_ = 0;
  Timestamp heartbeat_at_ms_ = 0;
  worker::TermFence fence_;
  worker::SeenLog seen_log_;
  std::map<AttemptKey, Attempt> attempts_;
  std::vector<v1::Fact> facts_;
  uint64_t acknowledged_ = 0;
  int64_t refused_messages_ = 0;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_NODE_H_
