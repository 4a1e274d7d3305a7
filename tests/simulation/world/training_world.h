// The simulated machines: the processes of ranks, the training gangs, and the file system with the
// checkpoints. This class determines their behavior; workers and controller only start and signal
// processes.
#ifndef TRAINYARD_TESTS_SIMULATION_WORLD_TRAINING_WORLD_H_
#define TRAINYARD_TESTS_SIMULATION_WORLD_TRAINING_WORLD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proto/contract/attempt_key.h"
#include "proto/support/clock.h"
#include "tests/simulation/world/random.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/telemetry.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::simulation {

// The contents of an order file.
struct HealOrder {
  int64_t generation = 0;
  int place = 0;
  std::set<int> replaced;
};

struct Process {
  std::string node_id;
  AttemptKey attempt;
  int rank = 0;
  std::vector<int> slots;
  // Set once the process has ended. The exit remains on the disk of the node.
  std::optional<v1::RankExited> exited;
  // The time and the kind of the process's planned end.
  Timestamp ends_at_ms = 0;
  int exit_code = 0;
  int signal = 0;
  bool ignores_sigterm = false;
  Timestamp last_activity_ms = 0;
  std::string phase = "init";
  // True if the process waits for a lost peer. Such a process writes nothing more.
  bool stuck = false;
  // True if the process makes no further steps. Only SIGKILL ends such a process.
  bool hangs = false;
  int slow_factor = 1;
  Timestamp slow_until_ms = 0;
  // The newest step in the rank's records.
  int64_t step = 0;
  // False once the rank's shim was killed. The rank's exit is then not recorded, and its children
  // may outlive it.
  bool has_shim = true;
  bool has_children = false;
  // True if the process has ended but its children are still running and occupy its slot.
  bool leaves_children = false;
  // Time at which the killed children end; 0 if they have not been killed.
  Timestamp children_end_at_ms = 0;
  // The rank's place in the gang; -1 for a standby without an order.
  int place = -1;
  // The generation of the rank's gang; 0 for a standby without an order.
  int64_t generation = 0;
  // The newest order in the rank's order file.
  std::optional<HealOrder> order;
  // True once the process has loaded or received the gang's state.
  bool has_state = false;
  // The newest step completed by the process, and the end of its wait for an order (0 if the
  // process does not wait).
  int64_t made_step = 0;
  Timestamp heal_until_ms = 0;
  // The time at which the process started, and the duration from its start to its first step (0
  // before that step).
  Timestamp started_ms = 0;
  int64_t init_ms = 0;
  // Only grows, like the telemetry file of a rank.
  std::vector<v1::TelemetryRecord> telemetry;
  // The size of the rank's output. OutputBetween returns the text.
  int64_t output_bytes = 0;
};

// True while a process of the rank occupies its slot.
inline bool HoldsSlot(const Process& process) {
  return !process.exited.has_value() || process.leaves_children;
}

// Returns the bytes [begin, end) of a rank's output. All ranks write the same output.
std::string OutputBetween(int64_t begin, int64_t end);

// The effect of a bad sample on a gang that trains on it.
enum class Poison {
  kSpike,  // The loss is far too high. The damage to the weights is permanent.
  kNan,    // Like kSpike, but the loss is NaN.
  kExit,   // The ranks detect the bad loss, keep the weights and exit with 76.
};

// Exit code of a rank that hits a bug of its program.
inline constexpr int kExitCodeOfBug = 3;

struct WorldOptions {
  int64_t step_ms = 500;
  int64_t load_ms = 2000;
  int64_t total_steps = 60;
  int64_t checkpoint_every = 10;
  int64_t alert_every = 15;
  // Probability that a rank that has lost a peer hangs instead of exiting with 69.
  double hang_without_peer = 0.3;
  double ignore_sigterm = 0.2;
  // If false, only rank 0 writes telemetry and output during training, as in our own trainer.
  bool all_ranks_write = false;
  // Bad samples by their position in the sample order. Each step trains on one sample.
  std::map<int64_t, Poison> poison;
  // For each job with a bug, the step after which rank 0 always exits with kExitCodeOfBug; 0 means
  // before the first step.
  std::map<int64_t, int64_t> bugs;
  // For each job whose run is not `total_steps` long, its number of steps.
  std::map<int64_t, int64_t> steps_of;
  // If true, a gang of trainyard-trainer or of a data job saves a checkpoint when it is stopped.
  bool save_at_stop = false;
};

class TrainingWorld {
 public:
  TrainingWorld(const WorldOptions& options, Random& random) : options_(options), random_(random) {}

  // The node, attempt and rank of a process. A worker sees only the processes of its own node.
  using ProcessKey = std::tuple<std::string, AttemptKey, int>;
  const std::map<ProcessKey, Process>& processes() const { return processes_; }
  const Process* Find(const std::string& node_id, const AttemptKey& attempt, int rank) const;
  // Returns the rank's process on any node; nullptr if there is none or if its machine is lost.
  const Process* FindRank(const AttemptKey& attempt, int rank) const;

  void Spawn(const std::string& node_id, const v1::StartAttempt& command, int rank, Timestamp now);
  // Writes the order file of a rank, as a worker does.
  void WriteOrder(const ProcessKey& key, HealOrder order);
  // Sends SIGKILL if `kill` is true and SIGTERM otherwise, as a worker does.
  void Signal(const std::string& node_id, const AttemptKey& attempt, int rank, bool kill,
              Timestamp now);

  // Kills the remaining processes of an ended rank, as a worker does when the shim is gone. The
  // processes take up to 3 s to end.
  void Sweep(const std::string& node_id, const AttemptKey& attempt, int rank, Timestamp now);

  // Ranks that were started more than once.
  const std::vector<ProcessKey>& started_twice() const { return started_twice_; }

  // Removes the files of all ranks of the attempt on the node.
  void RemoveFiles(const std::string& node_id, const AttemptKey& attempt);
  // The ranks whose files were removed, in the order of the removals.
  const std::vector<ProcessKey>& removed() const { return removed_; }

  // The functions from here to hurt() inject faults. hurt()
  // returns the affected attempts. Hurt() records that a
  // fault outside of this world affects the attempt.
  void Hurt(const AttemptKey& attempt) { hurt_.insert(attempt); }
  // Records that a fault has affected the node itself.
  void BlameNode(const std::string& node_id) { nodes_at_fault_.insert(node_id); }
  // Records that a rank of the attempt has exceeded a limit of its node.
  void Flood(const AttemptKey& attempt) { flooded_.insert(attempt); }
  void CrashRank(const ProcessKey& key, int exit_code, int signal, Timestamp now);
  // Makes the rank hang, so that its gang waits for the rank. Returns false if the rank is not
  // training or is about to end anyway.
  bool HangRank(const ProcessKey& key);
  // Makes the rank exit with 0 before the last step, so that its gang waits for the rank. Returns
  // false if HangRank would, and if the gang has only one rank.
  bool LeaveGang(const ProcessKey& key, Timestamp now);
  // Until `until`, the rank's device needs `factor` times as long per step, and the gang waits for
  // the rank.
  void SlowRank(const ProcessKey& key, int factor, Timestamp until);
  // Kills the shim of a running rank.
  void KillShim(const ProcessKey& key);
  // Makes all processes of the node disappear at once, without leaving records.
  void CrashNode(const std::string& node_id);
  // Disconnects the node's ranks from their peers.
  void IsolateNode(const std::string& node_id);
  void ReconnectNode(const std::string& node_id) { isolated_.erase(node_id); }
  // Makes one of the published checkpoints unreadable.
  void DamageCheckpoint();

  void Advance(Timestamp now);

  // Attempts that were affected by a fault outside of the control plane.
  const std::set<AttemptKey>& hurt() const { return hurt_; }
  // Attempts whose gang saved a checkpoint when it was stopped.
  const std::set<AttemptKey>& saved_at_stop() const { return saved_at_stop_; }
  // For each attempt in which a rank hangs or has left the gang, the number of that rank.
  const std::map<AttemptKey, int>& hung() const { return hung_; }
  // Attempts that ended because of a bug in their program.
  const std::set<AttemptKey>& met_bug() const { return met_bug_; }
  // True if the ranks of the attempt could not reach each other for some time.
  bool WasIsolated(const AttemptKey& attempt) const { return were_isolated_.contains(attempt); }
  // An attempt that has trained on a bad sample, the step, and the sample's position.
  struct Meeting {
    AttemptKey attempt;
    int64_t step = 0;
    int64_t position = 0;
  };
  const std::vector<Meeting>& meetings() const { return meetings_; }
  // Attempts with a rank that exceeded a limit.
  const std::set<AttemptKey>& flooded() const { return flooded_; }
  const std::set<std::string>& nodes_at_fault() const { return nodes_at_fault_; }
  // True if the machine is lost permanently.
  bool IsGone(const std::string& node_id) const { return gone_.contains(node_id); }
  bool IsDamaged(const std::string& checkpoint) const { return damaged_.contains(checkpoint); }
  // Processes running on the node.
  std::vector<ProcessKey> RunningOn(const std::string& node_id) const;

 private:
  struct GangRun {
    // Number of processes. With launchers, this is less than the number of ranks.
    int world_size = 0;
    int64_t step = 0;
    int64_t first_step = 0;
    int64_t total_steps = 0;
    std::string resume_from;
    // True if the program saves a checkpoint when it is stopped.
    bool saves_at_stop = false;
    // The skipped ranges of positions: the end of each range, by its begin.
    std::map<int64_t, int64_t> skip;
    bool loaded = false;
    Timestamp complete_since_ms = 0;
    Timestamp next_step_ms = 0;
    bool broken = false;
    bool done = false;
    // True if the gang recovers in place: ranks that lose a peer wait for orders.
    bool heals = false;
    // The newest generation that any rank has joined, and the newest generation that has completed
    // a step.
    int64_t generation = 1;
    int64_t trained_generation = 0;
    // The time at which the ranks of a new generation are connected; 0 while ranks of the
    // generation are missing.
    Timestamp connected_at_ms = 0;
  };

  // True if the rank is training with its gang and no rank of the gang hangs yet.
  bool MayHang(const Process& process) const;
  std::map<int, Process*> Members(const AttemptKey& attempt);
  // Ends the rank if its end is due. Returns true if the rank was ended.
  static bool EndIfDue(const AttemptKey& attempt, int rank, Process& process, Timestamp now);
  // Healing gangs (training_world_heal.cpp).
  void AdvanceHealing(const AttemptKey& attempt, GangRun& gang, Timestamp now);
  static void Join(GangRun& gang, Process& process, Timestamp now);
  void AwaitOrders(GangRun& gang, const std::map<int, Process*>& living, Timestamp now);
  void TrainHealed(const AttemptKey& attempt, GangRun& gang,
                   const std::map<int, Process*>& gang_now, Timestamp now);
  void AdvanceGang(const AttemptKey& attempt, GangRun& gang, Timestamp now);
  void BreakGang(GangRun& gang, const std::map<int, Process*>& members, Timestamp now);
  void Load(const AttemptKey& attempt, GangRun& gang, const std::map<int, Process*>& members,
            Timestamp now);
  void TakeStep(const AttemptKey& attempt, GangRun& gang, const std::map<int, Process*>& members,
                Timestamp now);
  // Trains on the next sample. A bad sample ends the gang's ranks, and the function returns
  // false.
  bool TakeSample(const AttemptKey& attempt, GangRun& gang, const std::map<int, Process*>& members,
                  double& loss, Timestamp now);
  // Returns true if a bug of the program ends a rank at the gang's current step.
  bool MeetsBug(const AttemptKey& attempt, const GangRun& gang,
                const std::map<int, Process*>& members, Timestamp now);
  // Saves the state of a gang that is asked to stop, if its program does so and it has made a step.
  void SaveAtStop(const AttemptKey& attempt, Process& process, Timestamp now);
  void Publish(const AttemptKey& attempt, const GangRun& gang, Process& rank0, Timestamp now);
  static void EndAt(Process& process, Timestamp when, int exit_code, int signal);
  static void SetPhase(Process& process, const std::string& phase, int64_t step, Timestamp now);

  const WorldOptions options_;
  Random& random_;
  std::map<ProcessKey, Process> processes_;
  std::map<AttemptKey, std::map<int, ProcessKey>> members_;
  std::map<AttemptKey, GangRun> gangs_;
  // The contents of the ATTEMPT file in each job's checkpoint directory.
  std::map<int64_t, int64_t> fence_;
  // The paths of all published checkpoints, and the paths of the damaged checkpoints.
  std::vector<std::string> published_;
  std::set<std::string> damaged_;
  std::set<std::string> isolated_;
  std::set<std::string> gone_;
  std::set<AttemptKey> hurt_;
  std::set<AttemptKey> flooded_;
  std::map<AttemptKey, int> hung_;
  std::set<AttemptKey> met_bug_;
  std::set<AttemptKey> saved_at_stop_;
  std::set<AttemptKey> were_isolated_;
  std::set<std::string> nodes_at_fault_;
  std::vector<ProcessKey> removed_;
  std::vector<Meeting> meetings_;
  std::vector<ProcessKey> started_twice_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_WORLD_TRAINING_WORLD_H_
