// A cluster without network and disk: state, observations and a clock that the test sets. The
// steps of a test read like a history:
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

// Returns a job that runs its own program and so needs no model. The job may restart once, with a
// backoff of one second.
v1::JobSpec TestSpec(const std::string& name, int nodes, int slots_per_node);

// Returns a run of a small model by trainyard-trainer with `layout: auto`. For any small number of
// ranks, a layout exists, because the batch of 840 samples has many divisors.
v1::JobSpec AutoSpec(const std::string& name, int nodes, int slots_per_node);

// Returns a run of a small model by trainyard-trainer with spare nodes. Its layout follows from the
// numbers of nodes and slots.
v1::JobSpec SparesSpec(const std::string& name, int nodes, int slots_per_node, int spares);

// Returns the submission of this request. Fails the test if the request is invalid.
JobSubmission Checked(const v1::SubmitJobRequest& request, const Principal& principal = {"ada"});

class TestCluster {
 public:
  TestCluster();

  // Attaches a worker with CPU slots. `id` is also the worker's name.
  void AddNode(const std::string& id, int slots);
  // Attaches a worker with CPU slots that reports CPU cores and memory.
  void AddNode(const std::string& id, int slots, const HostAmount& host);
  // Attaches a worker with GPUs of one model, and with labels.
  void AddGpuNode(const std::string& id, int gpus, const std::string& model,
                  const std::map<std::string, std::string>& labels = {});
  v1::Hello HelloOf(const std::string& id) const { return hellos_.at(id); }
  // Reconnects the stream of the node's worker and completes the handshake, up to the Welcome.
  void OpenStream(const std::string& id);
  // The node sends no heartbeats until Wake is called.
  void StopHeartbeats(const std::string& id) { unresponsive_.insert(id); }
  // Asks the node's worker to leave. The worker reports this in a last heartbeat, and its stream
  // ends.
  void Leave(const std::string& id);
  void Wake(const std::string& id) { unresponsive_.erase(id); }

  // Decides on the request and applies the events. Fails the test if the request is rejected.
  std::vector<v1::Event> Do(const Request& request);
  absl::Status Try(const Request& request) const;

  // Submits and returns the job's id.
  int64_t Submit(const v1::JobSpec& spec, const std::string& request_id = "");
  int64_t Submit(const std::string& name, int nodes, int slots_per_node);
  void Stop(int64_t job_id, bool kill = false);

  // Returns the view that readers of the loop receive, with a schedule of the current state. The
  // view is valid until the next call.
  ClusterView View() const;

  // Plans and applies events until no event is due. Returns all applied events.
  std::vector<v1::Event> Settle();
  // Advances the time by `ms` in steps of `step_ms`. In each step, responsive nodes send a
  // heartbeat, and then Settle is called. If `measures` is true, workers also report the times
  // since each rank's newest step and newest output.
  std::vector<v1::Event> Pass(int64_t ms, int64_t step_ms = 500);

  // Moves the controller's wall clock by `step_ms`.
  void StepClock(int64_t step_ms);

  // These functions send facts about the newest attempt from the node of the rank.
  void StartRank(int64_t job_id, int rank);
  void ExitRank(int64_t job_id, int rank, int exit_code, Timestamp time_ms = 0);
  void Exit(int64_t job_id, v1::RankExited exited);
  void ClearNode(int64_t job_id, const std::string& node_id);
  void SendFact(const std::string& node_id, v1::Fact fact);
  // These functions send the facts above for all ranks or nodes of the newest attempt, except facts
  // that were already sent. Then they call Settle.
  void StartAll(int64_t job_id);
  void ExitAll(int64_t job_id, int exit_code);
  void ClearAll(int64_t job_id);
  // Calls Settle and starts all ranks. Fails the test if the job is not running afterwards.
  void RunJob(int64_t job_id);
  // Sends telemetry of one step of `rank`.
  void Step(int64_t job_id, int rank, int64_t step, double step_seconds);
  void Publish(int64_t job_id, int64_t step);

  // Returns the report on the job's attempt that the node's worker will send with its next
  // heartbeat. Tests may modify the report.
  v1::AttemptReport& Report(const std::string& node_id, int64_t job_id);
  // Makes the report list ranks 0 to `ranks` - 1 as running instead of the attempt's own ranks.
  v1::AttemptReport& ReportRunning(const std::string& node_id, int64_t job_id, int ranks);
  // The worker has removed the attempt from its disk.
  void ForgetReport(const std::string& node_id, int64_t job_id) { reports_[node_id].erase(job_id); }

  const v1::Job& Job(int64_t job_id) const { return state.jobs.at(job_id).job; }
  const v1::Attempt& Attempt(int64_t job_id) const;
  v1::JobState StateOf(int64_t job_id) const { return Job(job_id).state(); }
  v1::NodeState NodeStateOf(const std::string& id) const { return state.nodes.at(id).node.state(); }
  // Returns the node and slot of each rank of the newest attempt, such as "a:0 a:1 b:0".
  std::string Placement(int64_t job_id) const;
  // Returns the due commands, such as "start a 1/1", "stop b 1/1 3000", "heal c 1/1 2" or "warn a
  // 1/1 1 USR1". Each command consists of its kind, the node and job/attempt. A stop also has the
  // grace period in ms, a heal the generation, and a warning its number and signal.
  std::vector<std::string> Commands() const;

  ClusterState state;
  Observations observations;
  CoreOptions options;
  Timestamp now = 1'000'000;
  bool measures = true;

 private:
  // The state of a rank as its worker last saw it, and the time since which that state has not
  // changed.
  struct Seen {
    int64_t step = 0;
    std::string phase;
    int64_t activity_ms = 0;
    Timestamp still_since_ms = 0;
    Timestamp quiet_since_ms = 0;
  };
  void Attach(const std::string& id, int slots, const v1::Slot& slot,
              const std::map<std::string, std::string>& labels);
  void Take(const std::vector<v1::Event>& events);
  void Measure(v1::AttemptReport& report);

  std::map<std::string, v1::Hello> hellos_;
  std::map<std::string, std::map<int64_t, v1::AttemptReport>> reports_;
  std::set<std::string> unresponsive_;
  std::map<std::pair<AttemptKey, int>, Seen> seen_;
  mutable Schedule schedule_;
};

// Returns the names of the events, such as "JobPlaced".
std::vector<std::string> Kinds(const std::vector<v1::Event>& events);

// Returns the seconds of a phase; 0 if the job spent no time in it.
double SecondsOf(const v1::Ledger& ledger, v1::LedgerPhase phase);

// Returns the serialized snapshot of the state. Two states are equal if these bytes are equal and
// the states' indexes are equal.
std::string Bytes(const ClusterState& state);
// Returns the name of the first index that differs between the states; "" if none differs.
std::string DifferentIndexes(const ClusterState& a, const ClusterState& b);

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_TEST_CLUSTER_H_
