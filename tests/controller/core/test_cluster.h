// A cluster that consists only of the core: state, observations and a manually set clock. Test
// steps read like a history:
//   TestCluster cluster;
//   cluster.AddNode("a", 2);
//   const int64_t job = cluster.Submit("job", 1, 2);
//   cluster.Settle();
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_TEST_CLUSTER_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_TEST_CLUSTER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/commands.h"
#include "controller/core/decide/decide.h"
#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"

namespace trainyard::controller {

// A job with its own program, so that it needs no model; one restart, with a backoff of one second.
v1::JobSpec TestSpec(const std::string& name, int nodes, int slots_per_node);

// A run of a small model by trainyard-trainer with `layout: auto`. Its batch of 840 samples has a
// layout for any small number of ranks.
v1::JobSpec AutoSpec(const std::string& name, int nodes, int slots_per_node);

// A run of a small model by trainyard-trainer, with spare nodes and the layout that follows from
// its shape.
v1::JobSpec SparesSpec(const std::string& name, int nodes, int slots_per_node, int spares);

// The submission of a request, which must be valid.
JobSubmission Checked(const v1::SubmitJobRequest& request, const Principal& principal = {"ada"});

class TestCluster {
 public:
  TestCluster();

  // Attaches a worker with CPU slots; its id equals its name.
  void AddNode(const std::string& id, int slots);
  v1::Hello HelloOf(const std::string& id) const { return hellos_.at(id); }
  // Reconnects the stream of the node's worker, including its Welcome.
  void OpenStream(const std::string& id);
  // The node sends no heartbeats until Wake.
  void StopHeartbeats(const std::string& id) { unresponsive_.insert(id); }
  // The node's worker leaves on request: a last heartbeat reports this, and its stream ends.
  void Leave(const std::string& id);
  void Wake(const std::string& id) { unresponsive_.erase(id); }

  // Decides and applies. A rejection fails the test.
  std::vector<v1::Event> Do(const Request& request);
  absl::Status Try(const Request& request) const;

  // Submits and returns the job's id.
  int64_t Submit(const v1::JobSpec& spec, const std::string& request_id = "");
  int64_t Submit(const std::string& name, int nodes, int slots_per_node);
  void Stop(int64_t job_id, bool kill = false);

  // The view given to readers of the loop, with a schedule of the current state. Valid until the
  // next call.
  ClusterView View() const;

  // Plans and applies until nothing is due; returns all events.
  std::vector<v1::Event> Settle();
  // Lets time pass in steps of half a second, or of `step_ms`: responsive nodes send a heartbeat,
  // then Settle. Unless `measures` is false, the workers report how long ranks have completed no
  // step and written nothing.
  std::vector<v1::Event> Pass(int64_t ms, int64_t step_ms = 500);

  // Changes the controller's wall clock.
  void StepClock(int64_t step_ms);

  // Facts of the newest attempt, sent by the rank's node.
  void StartRank(int64_t job_id, int rank);
  void ExitRank(int64_t job_id, int rank, int exit_code, Timestamp time_ms = 0);
  void Exit(int64_t job_id, v1::RankExited exited);
  void ClearNode(int64_t job_id, const std::string& node_id);
  void SendFact(const std::string& node_id, v1::Fact fact);
  // The facts above for all ranks or nodes of the newest attempt that lack them, followed by
  // Settle.
  void StartAll(int64_t job_id);
  void ExitAll(int64_t job_id, int exit_code);
  void ClearAll(int64_t job_id);
  // Settles and starts all ranks; the job must then be running.
  void RunJob(int64_t job_id);
  // Telemetry of one step of `rank`.
  void Step(int64_t job_id, int rank, int64_t step, double step_seconds);
  void Publish(int64_t job_id, int64_t step);

  // The attempt report that the node's worker sends with its next heartbeat; tests may change it.
  v1::AttemptReport& Report(const std::string& node_id, int64_t job_id);
  // Reports ranks 0 to `ranks` - 1 as running, instead of the attempt's own ranks.
  v1::AttemptReport& ReportRunning(const std::string& node_id, int64_t job_id, int ranks);
  // The worker has removed the attempt from its disk.
  void ForgetReport(const std::string& node_id, int64_t job_id) { reports_[node_id].erase(job_id); }

  const v1::Job& Job(int64_t job_id) const { return state.jobs.at(job_id).job; }
  const v1::Attempt& Attempt(int64_t job_id) const;
  v1::JobState StateOf(int64_t job_id) const { return Job(job_id).state(); }
  v1::NodeState NodeStateOf(const std::string& id) const { return state.nodes.at(id).node.state(); }
  // "a:0 a:1 b:0": node and slot of each rank of the newest attempt.
  std::string Placement(int64_t job_id) const;
  // Due commands, such as "start a 1/1", "stop b 1/1 3000" or "heal c 1/1 2": node, job/attempt,
  // and the grace period in ms or the generation.
  std::vector<std::string> Commands() const;

  ClusterState state;
  Observations observations;
  CoreOptions options;
  Timestamp now = 1'000'000;
  bool measures = true;

 private:
  // A rank as last seen by its worker, and the time since when it is in this state.
  struct Seen {
    int64_t step = 0;
    std::string phase;
    int64_t activity_ms = 0;
    Timestamp still_since_ms = 0;
    Timestamp quiet_since_ms = 0;
  };
  void Take(const std::vector<v1::Event>& events);
  void Measure(v1::AttemptReport& report);

  std::map<std::string, v1::Hello> hellos_;
  std::map<std::string, std::map<int64_t, v1::AttemptReport>> reports_;
  std::set<std::string> unresponsive_;
  std::map<std::pair<AttemptKey, int>, Seen> seen_;
  mutable Schedule schedule_;
};

// Names of the events, such as "JobPlaced".
std::vector<std::string> Kinds(const std::vector<v1::Event>& events);

// Seconds of a phase; 0 if the job had no time in it.
double SecondsOf(const v1::Ledger& ledger, v1::LedgerPhase phase);

// Serialized snapshot. Two states are equal if their snapshots have the same bytes and their
// indexes are the same.
std::string Bytes(const ClusterState& state);
// Name of the first index that differs between the states; empty if none does.
std::string DifferentIndexes(const ClusterState& a, const ClusterState& b);

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_TEST_CLUSTER_H_
