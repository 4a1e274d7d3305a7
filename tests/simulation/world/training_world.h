// The simulated machines: processes of ranks, training gangs, and the file system with the
// checkpoints. Workers and controller decide nothing here; they only start and signal processes.
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

// Contents of an order file.
struct HealOrder {
  int64_t generation = 0;
  int place = 0;
  std::set<int> replaced;
};

struct Process {
  std::string node_id;
  AttemptKey attempt;
  int rank = 0;
  int slot = 0;
  // Set once the process has ended; remains on the node's disk.
  std::optional<v1::RankExited> exited;
  // Time and kind of the process's end.
  Timestamp ends_at_ms = 0;
  int exit_code = 0;
  int signal = 0;
  bool ignores_sigterm = false;
  Timestamp last_activity_ms = 0;
  std::string phase = "init";
  // The process waits for a lost peer and writes nothing further.
  bool stuck = false;
  // The process makes no further steps, and only SIGKILL ends it.
  bool hangs = false;
  int slow_factor = 1;
  Timestamp slow_until_ms = 0;
  // Newest step in its records.
  int64_t step = 0;
  // False once its shim was killed: its exit is not recorded, and its children outlive it.
  bool has_shim = true;
  bool has_children = false;
  // The process has ended, but its children are running and hold its slot.
  bool leaves_children = false;
  // Time at which the killed children end; 0 before they are killed.
  Timestamp children_end_at_ms = 0;
  // Place in the gang; -1 for a standby without an order.
  int place = -1;
  // Generation of its gang; 0 for a standby without an order.
  int64_t generation = 0;
  // Newest order in its order file.
  std::optional<HealOrder> order;
  // True once the process has loaded or received the gang's state.
  bool has_state = false;
  // Newest completed step, and the end of its wait for an order; 0 if it is not waiting.
  int64_t made_step = 0;
  Timestamp heal_until_ms = 0;
  // Time from its start to its first step; 0 before the first step.
  Timestamp started_ms = 0;
  int64_t init_ms = 0;
  // Append-only, like the telemetry file of a rank.
  std::vector<v1::TelemetryRecord> telemetry;
  // Size of its output; the text is OutputBetween.
  int64_t output_bytes = 0;
};

// True while a process of the rank holds its slot.
inline bool HoldsSlot(const Process& process) {
  return !process.exited.has_value() || process.leaves_children;
}

// The bytes [begin, end) of the output of any rank.
std::string OutputBetween(int64_t begin, int64_t end);

// Effect of a bad sample on the gang that trains on it.
enum class Poison {
  kSpike,  // The loss is far too high, and the weights are permanently damaged.
  kNan,    // Like kSpike, but the loss is NaN.
  kExit,   // The ranks detect it, change no weights and exit with 76.
};

// Exit code of the rank that hits a bug of its program.
inline constexpr int kExitCodeOfBug = 3;

struct WorldOptions {
  int64_t step_ms = 500;
  int64_t load_ms = 2000;
  int64_t total_steps = 60;
  int64_t checkpoint_every = 10;
  int64_t alert_every = 15;
  // Probability that a rank that lost a peer hangs instead of exiting with 69.
  double hang_without_peer = 0.3;
  double ignore_sigterm = 0.2;
  // If false, only rank 0 writes while training, like our own trainer.
  bool all_ranks_write = false;
  // Bad samples by their position in the sample order. Each step takes one sample.
  std::map<int64_t, Poison> poison;
  // For each job, the step after which rank 0 always exits with kExitCodeOfBug; 0: before the first
  // step.
  std::map<int64_t, int64_t> bugs;
};

class TrainingWorld {
 public:
  TrainingWorld(const WorldOptions& options, Random& random) : options_(options), random_(random) {}

  // Key of a process: node, attempt and rank. A worker sees only processes of its own node.
  using ProcessKey = std::tuple<std::string, AttemptKey, int>;
  const std::map<ProcessKey, Process>& processes() const { return processes_; }
  const Process* Find(const std::string& node_id, const AttemptKey& attempt, int rank) const;
  // The rank's process on any node; nullptr also if its machine is lost.
  const Process* FindRank(const AttemptKey& attempt, int rank) const;

  void Spawn(const std::string& node_id, const v1::StartAttempt& command, int rank, Timestamp now);
  // Writes the order file of a rank, like a worker.
  void WriteOrder(const ProcessKey& key, HealOrder order);
  // Sends SIGTERM or SIGKILL, like a worker.
  void Signal(const std::string& node_id, const AttemptKey& attempt, int rank, bool kill,
              Timestamp now);

  // Kills the remaining processes of an ended rank, like a worker when the shim is gone. Takes up
  // to 3 s.
  void Sweep(const std::string& node_id, const AttemptKey& attempt, int rank, Timestamp now);

  // Ranks that were started more than once.
  const std::vector<ProcessKey>& started_twice() const { return started_twice_; }

  // Removes the files of the attempt's ranks on the node.
  void RemoveFiles(const std::string& node_id, const AttemptKey& attempt);
  // Ranks whose files were removed, in order.
  const std::vector<ProcessKey>& removed() const { return removed_; }

  // Faults. Attempts that a fault affects are in hurt().
  // A fault outside of this world affects the attempt.
  void Hurt(const AttemptKey& attempt) { hurt_.insert(attempt); }
  // A fault has affected the node itself.
  void BlameNode(const std::string& node_id) { nodes_at_fault_.insert(node_id); }
  // The attempt's rank has exceeded a limit of its node.
  void Flood(const AttemptKey& attempt) { flooded_.insert(attempt); }
  void CrashRank(const ProcessKey& key, int exit_code, int signal, Timestamp now);
  // From now on the rank hangs, and its gang waits for it. Returns false if the rank is not
  // training or its end is due.
  bool HangRank(const ProcessKey& key);
  // The rank exits with 0 before the last step, and its gang waits for it. Returns false in the
  // same cases as HangRank, and for a gang of one.
  bool LeaveGang(const ProcessKey& key, Timestamp now);
  // From now until `until`, the rank's device takes `factor` times as long per step, and its gang
  // waits for it.
  void SlowRank(const ProcessKey& key, int factor, Timestamp until);
  // Kills the shim of a running rank.
  void KillShim(const ProcessKey& key);
  // All processes of the node vanish at once, without a trace.
  void CrashNode(const std::string& node_id);
  // The node's ranks cannot reach their peers.
  void IsolateNode(const std::string& node_id);
  void ReconnectNode(const std::string& node_id) { isolated_.erase(node_id); }
  // Makes one of the published checkpoints unreadable.
  void DamageCheckpoint();

  void Advance(Timestamp now);

  // Attempts affected by a fault outside of the control plane.
  const std::set<AttemptKey>& hurt() const { return hurt_; }
  // Attempts with a rank that hangs or has left its gang, with that rank.
  const std::map<AttemptKey, int>& hung() const { return hung_; }
  // Attempts that ended because of a bug in their program.
  const std::set<AttemptKey>& met_bug() const { return met_bug_; }
  // True if ranks of the attempt could not reach each other for some time.
  bool WasIsolated(const AttemptKey& attempt) const { return were_isolated_.contains(attempt); }
  // An encounter of an attempt with a bad sample: attempt, step and position, in order.
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
    int world_size = 0;
    int64_t step = 0;
    int64_t first_step = 0;
    std::string resume_from;
    // Skipped positions: begin and end of each range.
    std::map<int64_t, int64_t> skip;
    bool loaded = false;
    Timestamp complete_since_ms = 0;
    Timestamp next_step_ms = 0;
    bool broken = false;
    bool done = false;
    // The gang continues in place: ranks that lose a peer wait for orders.
    bool heals = false;
    // Newest generation that any rank has joined, and the newest that has completed a step.
    int64_t generation = 1;
    int64_t trained_generation = 0;
    // Time at which the ranks of a new generation are connected; 0 while some are missing.
    Timestamp connected_at_ms = 0;
  };

  // True if the rank is training with its gang and the gang is not hanging yet.
  bool MayHang(const Process& process) const;
  std::map<int, Process*> Members(const AttemptKey& attempt);
  // Returns true if the rank's end was due, in which case it has now exited.
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
  // Returns false if the gang's ranks end because of a bad sample.
  bool TakeSample(const AttemptKey& attempt, GangRun& gang, const std::map<int, Process*>& members,
                  double& loss, Timestamp now);
  // Returns true if a bug of the program ends a rank at the gang's step.
  bool MeetsBug(const AttemptKey& attempt, const GangRun& gang,
                const std::map<int, Process*>& members, Timestamp now);
  void Publish(const AttemptKey& attempt, const GangRun& gang, Process& rank0, Timestamp now);
  static void EndAt(Process& process, Timestamp when, int exit_code, int signal);
  static void SetPhase(Process& process, const std::string& phase, int64_t step, Timestamp now);

  const WorldOptions options_;
  Random& random_;
  std::map<ProcessKey, Process> processes_;
  std::map<AttemptKey, std::map<int, ProcessKey>> members_;
  std::map<AttemptKey, GangRun> gangs_;
  // The ATTEMPT file of each job's checkpoint directory.
  std::map<int64_t, int64_t> fence_;
  // Paths of published checkpoints, and of the damaged ones among them.
  std::vector<std::string> published_;
  std::set<std::string> damaged_;
  std::set<std::string> isolated_;
  std::set<std::string> gone_;
  std::set<AttemptKey> hurt_;
  std::set<AttemptKey> flooded_;
  std::map<AttemptKey, int> hung_;
  std::set<AttemptKey> met_bug_;
  std::set<AttemptKey> were_isolated_;
  std::set<std::string> nodes_at_fault_;
  std::vector<ProcessKey> removed_;
  std::vector<Meeting> meetings_;
  std::vector<ProcessKey> started_twice_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_WORLD_TRAINING_WORLD_H_
