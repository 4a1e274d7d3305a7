// Runs a controller and workers as real processes
// on the loopback interface. Includes a client.
#ifndef TRAINYARD_TESTS_INTEGRATION_MINI_CLUSTER_H_
#define TRAINYARD_TESTS_INTEGRATION_MINI_CLUSTER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/child_process.h"
#include "trainyard/v1/job_service.grpc.pb.h"
#include "trainyard/v1/log_service.grpc.pb.h"
#include "trainyard/v1/metric_service.grpc.pb.h"
#include "trainyard/v1/node_service.grpc.pb.h"

namespace trainyard::test {

// Returns the path of a program, such as trainyard, trainyard-controller, trainyard-worker or
// trainyard-trainer.
std::string ProgramPath(const std::string& name);

// Unpacks a .tar.gz into the directory; fails the test if it cannot.
void Unpack(const std::string& archive, const std::string& directory);

// Returns an address on loopback that no program uses at present.
std::string FreeAddress();

class MiniCluster {
 public:
  // `data` is an archive of the daemons' initial data directories (controller/, worker0/, ...). If
  // `data` is "", the directories start empty.
  explicit MiniCluster(int nodes, int slots_per_node = 1, const std::string& data = "");
  // Starts the controller with these flags, also at each later start.
  MiniCluster(int nodes, int slots_per_node, std::vector<std::string> controller_flags);
  // A cluster without nodes whose controllers the test starts itself, with token_file().
  struct WithoutController {};
  explicit MiniCluster(WithoutController);
  ~MiniCluster();

  // ---- Processes `more`: additional command-line flags.
  void StartController(const std::vector<std::string>& more = {});
  // StartController in two steps, for a controller that cannot serve at once.
  void SpawnController(const std::vector<std::string>& more = {});
  void AwaitController();
  // From now on, the controller is started through this command, such as /usr/bin/env with
  // variables.
  void RunControllerThrough(std::vector<std::string> command) {
    controller_command_ = std::move(command);
  }
  // Makes the controller at this address the one that the functions below call.
  void UseController(const std::string& address) { address_ = address; }
  void KillController();
  ChildProcess& controller() { return *controller_; }
  // Starts the worker of a node. If `node` equals the current number of nodes, adds a node and
  // returns once that node has joined the cluster. If `controller` is given, the worker connects to
  // it instead of the controller's own address.
  void StartWorker(int node, const std::vector<std::string>& more = {},
                   const std::string& controller = "");
  // Starts a worker that sees a separate empty directory at each path in `hidden`, like a machine
  // without access to the other machines' shared storage. Needs root.
  void StartWorkerApart(int node, const std::vector<std::string>& hidden);
  // Workers started from now on run this script, a path below SOURCE_DIRECTORY, instead of
  // trainyard-trainer.
  void UseTrainer(const std::string& script);
  void KillWorker(int node);
  ChildProcess& worker(int node) { return *workers_[node]; }
  // Returns the pid of a rank's program; 0 if it is not running.
  pid_t RankPid(int64_t job_id, int64_t attempt_number, int rank) const;

  // ---- Files
  const std::string& directory() const { return directory_.path(); }
  const std::string& address() const { return address_; }
  std::string token_file() const { return directory() + "/controller/token"; }
  // Creates token data for a vocabulary of 257 and returns its directory.
  std::string MakeTokens();
  // Writes a job file and returns its path.
  std::string WriteJob(const std::string& name, const std::string& yaml);

  // ---- The CLI
  CommandResult Cli(std::vector<std::string> arguments, Seconds deadline = Seconds(60)) const;
  // Submits a job with the CLI and returns its id. Fails the test if the job is rejected.
  int64_t Submit(const std::string& job_file, const std::vector<std::string>& more = {}) const;

  // ---- The API
  v1::Job Job(int64_t job_id) const { return Described(job_id).job(); }
  // By name.
  std::map<std::string, v1::Node> Nodes() const;
  v1::GetJobResponse Described(int64_t job_id) const;
  // Returns the newest jobs with the fields that lists show.
  std::vector<v1::Job> ListedJobs() const;
  // Returns at most `limit` events of all jobs and nodes, newest first.
  v1::ListEventsResponse Events(int limit) const;
  // Returns the number of events in the log, for all jobs and nodes together.
  uint64_t Revision() const { return Events(1).revision(); }
  // Returns the ranks of the newest attempt.
  v1::ListRanksResponse Ranks(int64_t job_id) const;
  // Waits for the job's end and returns the job.
  v1::Job WaitForEnd(int64_t job_id, Seconds deadline = Seconds(120)) const;
  bool WaitForStep(int64_t job_id, int64_t step, Seconds deadline = Seconds(60)) const;
  bool WaitForCheckpoint(int64_t job_id, int64_t step, Seconds deadline = Seconds(60)) const;
  // Waits until the job reaches `step`, then stops it and returns it. Fails the test if the job
  // does not reach the step or does not stop.
  v1::Job StopAfter(int64_t job_id, int64_t step) const;
  // Returns the values of a merged series, by step.
  std::map<int64_t, double> Series(int64_t job_id, const std::string& key) const;
  // Returns all raw points of a series in one attempt.
  v1::Series RawSeries(int64_t job_id, const std::string& key, int64_t attempt_number) const;
  std::vector<v1::LogLine> Logs(int64_t job_id, int rank, int64_t attempt_number) const;
  // Returns the logs of the daemons, for the messages of failed tests.
  std::string DaemonLogs() const;

 private:
  // Starts the controller and the workers.
  void StartAll(int nodes);
  std::vector<std::string> WorkerCommand(int node, const std::string& controller) const;
  void RunWorker(int node, const std::vector<std::string>& command);
  template <typename Service>
  std::unique_ptr<typename Service::Stub> Stub() const;

  TemporaryDirectory directory_;
  const int slots_per_node_;
  std::vector<std::string> controller_command_;
  const std::vector<std::string> controller_flags_;
  std::string worker_program_;
  std::string address_;
  std::unique_ptr<ChildProcess> controller_;
  std::vector<std::unique_ptr<ChildProcess>> workers_;
};

// Returns a job file for the tests' trainer. The model is so small that a step takes a few
// milliseconds.
std::string TinyJob(const std::string& name, const std::string& tokens, int nodes, int steps);

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_MINI_CLUSTER_H_
