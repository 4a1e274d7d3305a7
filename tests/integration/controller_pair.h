// Two controllers on one PostgreSQL database, with real processes, workers and a client.
#ifndef TRAINYARD_TESTS_INTEGRATION_CONTROLLER_PAIR_H_
#define TRAINYARD_TESTS_INTEGRATION_CONTROLLER_PAIR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/controller/store/postgres/postgres_server.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {

// Exit status of a controller that no longer leads (controller/loop/leader_guard.h).
inline constexpr int kExitLeadershipLost = 3;

class ControllerPair : public testing::Test {
 protected:
  static constexpr int kWorkerNodes = 2;

  struct Member {
    std::string address;
    std::string page;  // HOST:PORT of its HTTP server.
    std::string data_dir;
    std::string settings;                // Connection string of the database.
    std::unique_ptr<ChildProcess> wire;  // The way to the database (wire.py); null if direct.
    std::unique_ptr<ChildProcess> process;
  };
  // The network between controllers and database: direct, or a wire for each controller.
  struct Network {
    bool is_direct = true;
    double loss = 0;  // The fraction of packets that the wires lose.
  };

  // Starts the controllers on a schema of this test, and a worker on each node. Skips the test if
  // no server is installed.
  void StartPair() { StartPair(Network{}); }
  void StartPair(const Network& network);

  void StartMember(int i);
  std::string Addresses() const;
  std::string Logs() const;

  // Runs a command of the CLI with the addresses of both controllers.
  CommandResult Cli(std::vector<std::string> arguments) const;
  // Waits until one controller leads and the other is a standby, and makes the leader the
  // controller of `cluster_`. Returns false after a time-out.
  bool FindLeader();
  // Hands over to the standby, and starts the former leader again, as the service manager does.
  // Returns the seconds from the request until the standby leads.
  double HandOver();
  // Submits a job to whoever leads. Returns the seconds that this took.
  double SubmitSmallJob();
  // All acknowledged small jobs have run once.
  void CheckSmallJobs() const;
  // The terms of the log never fall. Returns the newest term.
  int64_t CheckTerms() const;

  // Starts the wire of member `i`.
  void StartWire(int i, double loss);

  // Additional command-line flags of both controllers. Set them before StartPair.
  std::vector<std::string> flags_;
  controller::PostgresServer* server_ = nullptr;
  std::string settings_;
  std::unique_ptr<MiniCluster> cluster_;
  std::vector<Member> members_;
  int leader_ = 0;
  std::map<int64_t, std::string> small_jobs_;  // Names by job id.
};

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_CONTROLLER_PAIR_H_
