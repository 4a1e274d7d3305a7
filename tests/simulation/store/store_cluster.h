// Several controllers on one simulated database, with workers and clients. One seed determines
// everything that happens.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_STORE_CLUSTER_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_STORE_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/store/agenda.h"
#include "tests/simulation/store/audit.h"
#include "tests/simulation/store/client.h"
#include "tests/simulation/store/links.h"
#include "tests/simulation/store/member.h"
#include "tests/simulation/store/node.h"
#include "tests/simulation/store/simulated_database.h"
#include "tests/simulation/store/store_faults.h"
#include "tests/simulation/store/world.h"
#include "tests/simulation/world/random.h"

namespace trainyard::simulation {

struct StoreClusterOptions {
  uint64_t seed = 0;
  int controllers = 2;
  int nodes = 2;
  int clients = 3;
  StoreFaults faults;
};

// The options of a seed, with a random selection of the faults.
StoreClusterOptions StoreOptionsOf(uint64_t seed);

class StoreCluster {
 public:
  explicit StoreCluster(const StoreClusterOptions& options);

  // Runs with faults for `ms`, or until a checker reports a violation.
  void RunFor(int64_t ms);
  // Ends all faults, and runs until the clients and the facts of the workers are answered. Fails if
  // this takes longer than `ms_max`.
  void Settle(int64_t ms_max);
  // Checks the history of the clients, and the state of a controller that is opened afresh.
  void CheckEnd();

  // The first violation, with the seed and the time; "" if there is none.
  const std::string& failure() const { return failure_; }
  const Audit& audit() const { return audit_; }
  const std::vector<std::unique_ptr<Member>>& members() const { return members_; }
  int64_t messages_refused() const;
  std::size_t operations() const { return history_.operations.size(); }

 private:
  void RunUntil(Timestamp end);
  void Inject();
  void InjectInto(int member);
  void InjectIntoDatabase();
  // Partitions the controller for a while.
  void Cut(int member, Side side, double chance, int64_t ms_max);
  void EndSomeSession();
  void RestartDatabase();
  void ToMember(int member, const ClientRequest& request);
  void ToClient(int client, ClientAnswer answer);
  bool IsSettled() const;
  void Complain(const std::string& text);

  const StoreClusterOptions options_;
  Random random_;
  StoreFaults faults_;
  Agenda agenda_;
  const int64_t database_ahead_ms_;
  Audit audit_;
  SimulatedDatabase database_;
  World world_;
  Links links_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<Node>> nodes_;
  History history_;
  std::vector<std::unique_ptr<Client>> clients_;
  bool restored_ = false;
  std::string failure_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_STORE_CLUSTER_H_
