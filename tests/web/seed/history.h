// A cluster's past, made by the product's own core (Decide, Reconcile, Apply) on a clock of its own
// and written through its own stores: the data of a controller that has run for weeks.
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

// Any refusal, of the core or of a store, is a bug of the caller: it is printed and ends the
// process.
class History {
 public:
  // Changes the values that a step reports.
  using Tweak = std::function<void(int64_t step, Values& values)>;

  // `stores` is empty and outlives the history.
  History(controller::Stores& stores, Timestamp begin);

  Timestamp now() const { return now_; }
  void Advance(int64_t ms) { now_ += ms; }
  void AdvanceTo(Timestamp time);

  // Ids node-001 and so on, names gpu001 and so on, each with `slots` GPUs. Call once.
  void AddNodes(int count, int slots);
  // The worker of this node (an id: a name loses nothing) sends no heartbeat any more. Advances the
  // time until the node is lost.
  void LoseNode(const std::string& node_id);
  void Cordon(const std::string& node_id, const std::string& reason, const std::string& user);

  // Returns the job's number. It waits in the queue until Start.
  int64_t Submit(const v1::JobSpec& spec, const std::vector<v1::Origin>& origins,
                 const std::string& user);
  // Places the job, starts its ranks and lets two seconds pass.
  void Start(int64_t job);
  // Rank 0 reports steps up to this one, and the gang writes output; time passes with them.
  void Train(int64_t job, int64_t to_step, const Tweak& tweak = {});
  // Trains from the newest step up to now. Returns the last step.
  int64_t CatchUp(int64_t job);
  // A checkpoint; the oldest beyond checkpoint.keep_last is deleted.
  void Publish(int64_t job, int64_t step);
  void Alert(int64_t job, int64_t step, const std::string& code, const std::string& message);
  // This rank ends by itself; the rest of the gang is stopped.
  void Fail(int64_t job, int rank, int exit_code, int signal, const std::string& final_output);
  void Finish(int64_t job);
  void Stop(int64_t job, const std::string& user);

  // Trains runs of a million steps: `every_step` keys at every step, other keys and output only
  // once in `others_every` steps.
  void TrainFast(int64_t job, int64_t to_step, const std::set<std::string>& every_step,
                 int64_t others_every);
  // Output of one rank, by repetition, until it has this many bytes.
  void WriteOutput(int64_t job, int rank, int64_t bytes);

  // Writes what is not written yet, and a snapshot, as a controller does every 10,000 events.
  v1::Snapshot Close();

  const v1::Job& Job(int64_t job) const { return state_.jobs.at(job).job; }

 private:
  void Do(const controller::Request& request);
  void Take(const std::vector<v1::Event>& events);
  void Settle();
  void ReportNodes();
  // Sends rank 0's part of a heartbeat: its step and its use of time.
  void ReportRanks(int64_t job);
  void SendFact(const std::string& node_id, v1::Fact fact);
  void SendRecord(int64_t job, v1::TelemetryRecord record);
  void ExitRank(int64_t job, int rank, v1::RankExited exited);
  // Ends the ranks that still run; all nodes then report the attempt cleared.
  void ExitRanks(int64_t job, int signal);
  void AddStep(int64_t job, int64_t step, Timestamp time, const Tweak& tweak);
  void AddPoints(int64_t job, int64_t step, Timestamp time, const Tweak& tweak);
  void AddOutput(int64_t job, int64_t step, Timestamp time);
  // Closes the chunks of output that are being written.
  void TakeOutput();
  // Writes points and output.
  void FlushPoints();
  void FlushEvents();

  controller::Stores& stores_;
  Timestamp now_;
  controller::CoreOptions options_;
  controller::ClusterState state_;
  controller::Observations observations_;
  std::set<std::string> unresponsive_;
  // Newest step of each job in its newest attempt, and the time of its end.
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
