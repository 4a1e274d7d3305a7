// The data of a leader.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_LEADING_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_LEADING_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tests/simulation/store/member.h"

namespace trainyard::simulation {

struct Member::Opened {
  std::shared_ptr<Connection> writer;
  std::shared_ptr<SimulatedEventLog> log;
  controller::EventLog::Recovery recovery;
};

struct Member::Leading {
  Leading(controller::CoreOptions core, controller::WorkerKernel::Options options, Opened opened)
      : writer(std::move(opened.writer)),
        log(std::move(opened.log)),
        tick(std::move(core)),
        workers(tick.state(), tick.observations(), tick.options(), std::move(options)) {}

  std::shared_ptr<Connection> writer;
  std::shared_ptr<SimulatedEventLog> log;
  controller::TickKernel tick;
  controller::WorkerKernel workers;
  std::map<int64_t, std::string> node_of_link;
  // True from the decision to the answer to its append. The loop is blocked meanwhile.
  bool is_appending = false;
  std::deque<std::function<void()>> waiting;  // Work for the blocked loop.
  bool tick_scheduled = false;
  std::size_t appended_events = 0;  // Of the present append.
  uint64_t snapshot_sequence = 0;
  std::shared_ptr<Connection> snapshot_writer;
  bool is_writing_snapshot = false;
  Timestamp retry_space_at_ms = 0;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_LEADING_H_
