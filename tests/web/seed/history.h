// Generates the data of a controller that has run for weeks. The history is created by the
// controller's own core (Decide, Reconcile, Apply) with a simulated clock, and written by the
// controller's own stores.
#ifndef TRAINYARD_TESTS_WEB_SEED_HISTORY_H_
#define TRAINYARD_TESTS_WEB_SEED_HISTORY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/core/decide/decide.h"
#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "controller/store/stores.h"
#include "tests/web/seed/training_curves.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::seed {

// An error of the core or a store is a bug of the caller: it is printed and ends the process.
class History {
 public:
  // Changes the values that rank 0 will report for a step.
  using Tweak = std::function<void(int64_t step, Values& values)>;

  // `stores` must be empty and must outlive the history.
  History(controller::Stores& stores, Timestamp begin);

  Timestamp now() const { return now_; }
  void Advance(int64_t ms) { now_ += ms; }
  void AdvanceTo(Timestamp time);

  // Adds nodes with `slots` GPUs each. The ids are node-001, node-002 and so on; the names are
  // gpu001, gpu002 and so on. May be called only once.
  void AddNodes(int count, int slots);
  // Stops the heartbeats of the node and advances the clock until the node is lost. `node_id` must
  // be an id. A name has no effect.
  void LoseNode(const std::string& node_id);
  void Cordon(const std::string& node_id, const std::string& reason, const std::string& user);

  // Submits a job and returns its number. The job stays queued until Start is called.
  int64_t Submit(const v1::JobSpec& spec, const std::vector<v1::Origin>& origins,
                 const std::string& user);
  // Places the job, starts its ranks and advances the time by two seconds.
  void Start(int64_t job);
  // Reports all steps up to `to_step` from rank 0, and writes output of the gang. Advances the
  // clock by the duration of these steps.
  void Train(int64_t job, int64_t to_step, const Tweak& tweak = {});
  // Trains from the newest step until the present time. Returns the last step.
  int64_t CatchUp(int64_t job);
  // Publishes a checkpoint. If there are more than checkpoint.keep_last, deletes the oldest.
  void Publish(int64_t job, int64_t step);
  void Alert(int64_t job, int64_t step, const std::string& code, const std::string& message);
  // Makes the rank exit with this failure. The other ranks of the gang are then stopped.
  void Fail(int64_t job, int rank, int exit_code, int signal, const std::string& final_output);
  void Finish(int64_t job);
  void Stop(int64_t job, const std::string& user);

  // Does the same as Train, but is fast enough for a million steps. Writes the keys in `every_step`
  // for every step, but other keys and output only for every `others_every`-th step.
  void TrainFast(int64_t job, int64_t to_step, const std::set<std::string>& every_step,
                 int64_t others_every);
  // Writes repeated output of one rank until the output has `bytes` bytes.
  void WriteOutput(int64_t job, int rank, int64_t bytes);

  // Writes all pending data and then a snapshot, as a controller does every 10,000 events.
  v1::Snapshot Close();

  const v1::Job& Job(int64_t job) const { return state_.jobs.at(job).job; }

 private:
  void Do(const controller::Request& request);
  void Take(const std::vector<v1::Event>& events);
  void Settle();
  void ReportNodes();
  // Sends rank 0's part of a heartbeat: its step and its time by category.
  void ReportRanks(int64_t job);
  void SendFact(const std::string& node_id, v1::Fact fact);
  void SendRecord(int64_t job, v1::TelemetryRecord record);
  void ExitRank(int64_t job, int rank, v1::RankExited exited);
  // Ends the running ranks with `signal`. Afterwards, all nodes report the attempt cleared.
  void ExitRanks(int64_t job, int signal);
  void AddStep(int64_t job, int64_t step, Timestamp time, const Tweak& tweak);
  void AddPoints(int64_t job, int64_t step, Timestamp time, const Tweak& tweak);
  void AddOutput(int64_t job, int64_t step, Timestamp time);
  // Completes the output chunks that are still open.
  void TakeOutput();
  // Writes pending points and output to the stores.
  void FlushPoints();
  void FlushEvents();

  controller::Stores& stores_;
  Timestamp now_;
  controller::CoreOptions options_;
  controller::ClusterState state_;
  controller::Observations observations_;
  std::set<std::string> unresponsive_;
  // For each job, the newest step of its newest attempt and the end time of that step.
  std::map<int64_t, int64_t> steps_;
  std::map<int64_t, Timestamp> step_times_;
  uint64_t written_ = 0;
  std::vector<v1::Event> unwritten_;
  std::vector<controller::MetricBatch> points_;
  std::vector<controller::LogBatch> output_;
  std::map<controller::StreamKey, controller::LogBatch> talking_;
  std::map<controller::StreamKey, int64_t> offsets_;
};

}  // namespace trainyard::seed

#endif  // TRAINYARD_TESTS_WEB_SEED_HISTORY_H_
