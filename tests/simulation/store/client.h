// A user with one operation at a time: it submits a job, stops one, or lists all of them. An
// operation is repeated at any controller until it is answered.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_CLIENT_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_CLIENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/checkers/linearizability.h"
#include "tests/simulation/store/world.h"

namespace trainyard::simulation {

// The operations of all clients, in the order of their calls.
struct History {
  std::vector<JobOperation> operations;
  int64_t position = 0;  // Of the newest call or answer.
  // The jobs that clients know, by name.
  std::map<std::string, int64_t> jobs;
};

class Client {
 public:
  using Send = std::function<void(int member, const ClientRequest& request)>;

  Client(int number, int members, World& world, History& history, Send send)
      : number_(number),
        members_(members),
        world_(world),
        history_(history),
        send_(std::move(send)) {}

  void Start() { CallLater(); }
  void Receive(const ClientAnswer& answer);
  // Starts no further operation.
  void Stop() { stopped_ = true; }
  bool IsWaiting() const { return is_waiting_; }

 private:
  void CallLater();
  void Call();
  void Try(int member);
  void TryLater(int64_t ms);
  void Returned(const ClientAnswer& answer);

  const int number_;
  const int members_;
  World& world_;
  History& history_;
  const Send send_;
  bool stopped_ = false;
  bool is_waiting_ = false;
  int member_ = 0;  // The controller that answered last.
  ClientRequest request_;
  int64_t last_number_ = 0;
  std::size_t operation_ = 0;  // In history_.
  int attempts_ = 0;           // Of the present operation.
  int64_t jobs_submitted_ = 0;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_CLIENT_H_
