// The clock of the simulation, and the work that is due later.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_AGENDA_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_AGENDA_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "proto/support/clock.h"

namespace trainyard::simulation {

class Agenda {
 public:
  explicit Agenda(Timestamp start) : now_(start) {}

  Timestamp now() const { return now_; }

  // Runs `work` after `ms`. Work that is due at the same time runs in the order of the calls.
  void After(int64_t ms, std::function<void()> work) { queue_.emplace(now_ + ms, std::move(work)); }

  // Runs due work until `end`, or until `stop` returns true.
  void RunUntil(Timestamp end, const std::function<bool()>& stop) {
    while (!queue_.empty() && queue_.begin()->first <= end && !stop()) {
      now_ = queue_.begin()->first;
      const std::function<void()> work = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      work();
    }
    now_ = std::max(now_, end);
  }

 private:
  Timestamp now_;
  std::multimap<Timestamp, std::function<void()>> queue_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_AGENDA_H_
