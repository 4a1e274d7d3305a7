// Runs the controller's rules (controller/kernel) on a simulated network, event log and store. The
// process can die between any two of these actions: decide, commit, answer, store.
#ifndef TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_CONTROLLER_H_
#define TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_CONTROLLER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/core/decide/decide.h"
#include "controller/core/requests/requests.h"
#include "controller/core/schedule/cluster_view.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "controller/kernel/store_kernel.h"
#include "controller/kernel/tick_kernel.h"
#include "controller/kernel/worker_actions.h"
#include "controller/kernel/worker_kernel.h"
#include "controller/store/events/log_terms.h"
#include "tests/simulation/world/network.h"
#include "tests/simulation/world/random.h"
#include "tests/simulation/world/simulated_store.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::simulation {

// Simulation time at which the controller's machine first booted.
inline constexpr Timestamp kBootMs = 999'000'000'000;

enum class CrashPoint { kNone, kBeforeCommit, kAfterCommit, kBetweenTicks };

// A message sent by the controller.
struct SentMessage {
  int64_t stream = 0;
  std::string node_id;
  v1::ControllerMessage message;
};

class SimulatedController {
 public:
  SimulatedController(Network& network, Random& random, const controller::CoreOptions& options,
                      Timestamp now);
  ~SimulatedController();

  void Receive(Arrival arrival);
  void Submit(controller::Request request);

  // Handles the messages that have arrived, then runs one tick and the storage thread. If `crash`
  // is not kNone, the process dies at that point and restarts immediately.
  void Tick(CrashPoint crash, Timestamp now);

  // Lets another controller take over with a higher term. The present one does not know this until
  // it commits or `notices` is reached: it keeps its streams, accepts new ones, and sends the
  // commands of its old state. Its commits are refused, and then it exits. Streams do not break.
  void FailOver(Timestamp notices, Timestamp now);

  // Moves the controller's wall clock by `ms`. All other clocks are unaffected.
  void StepClock(int64_t ms) { wall_ahead_ms_ += ms; }
  // Reboots the controller's machine. The controller process starts again in the next tick.
  void Reboot() { booted_ms_ = now_; }
  // The current time by the controller's clock.
  Timestamp Time() const;
  // Until `until`, the disk of the event log is full and the store writes nothing.
  void FillDiskUntil(Timestamp until) { disk_full_until_ms_ = until; }
  void StallStoreUntil(Timestamp until) { store_busy_until_ms_ = until; }

  // Copies the data directory, as a disk snapshot would.
  void TakeCopy();
  // Kills the controller, restores the event log from the copy, and starts the controller again. If
  // `all` is true, the stores are restored, too.
  void PutCopyBack(bool all, Timestamp now);

  const controller::ClusterState& state() const;
  const controller::Promises& promises() const;
  // The view that readers of the loop receive, with the newest schedule.
  controller::ClusterView View() const;
  // The durable event log, and the durable metric and log stores.
  const std::vector<v1::Event>& log() const { return log_; }
  const SimulatedStore& store() const { return store_; }
  // The durable archive of jobs that were moved out of the state.
  const std::map<int64_t, v1::ArchivedJob>& archive() const { return archive_; }
  // Messages sent since the last call.
  std::vector<SentMessage> TakeSent() { return std::exchange(sent_, {}); }

 private:
  struct DiskCopy {
    std::vector<v1::Event> log;
    std::vector<controller::LogTerm> log_terms;
    v1::Snapshot snapshot;
    std::map<int64_t, v1::ArchivedJob> archive;
    SimulatedStore store;
    v1::LogMark store_mark;
  };
  // A result of the storage thread that the loop has not handled yet.
  using StoreResult = std::function<controller::WorkerActions()>;

  // The data that is lost when the process dies.
  struct Process {
    Process(const controller::CoreOptions& options,
            controller::WorkerKernel::Options workers_options)
        : tick(options),
          workers(tick.state(), tick.observations(), tick.options(), std::move(workers_options)) {}

    // An entry of the storage thread's queue: ReadOffsets, StoreTelemetry or StoreOutput.
    using StoreItem =
        std::variant<controller::ReadOffsets, controller::TelemetryItem, controller::OutputItem>;

    controller::TickKernel tick;
    controller::WorkerKernel workers;
    controller::StoreKernel store;
    std::deque<StoreItem> store_queue;
    std::deque<StoreResult> store_results;
    Timestamp retry_space_at_ms = 0;
    std::map<int64_t, std::string> node_of_stream;
  };

  ClockReading Clocks() const { return {now_ + wall_ahead_ms_, now_ - booted_ms_}; }
  void Restart(Timestamp now);
  // Starts a process that leads the next term.
  void StartProcess();
  // One tick of a controller that no longer leads.
  void TickDeposed(Timestamp now);
  void EndDeposed(Timestamp now);
  // Records losses of history as controller/storage/history_check.h does at the daemon's start.
  void RecordLosses();
  // Must be called after the event log has grown.
  void NoteAppended();
  // Returns the mark of the newest durable event, which the daemon passes to its stores.
  v1::LogMark NewestMark() const;
  controller::ClusterState Replay() const;
  void Handle(Arrival arrival, Timestamp now);
  void CarryOut(controller::WorkerActions actions);
  void CarryOutOne(controller::SendMessage& action);
  void CarryOutOne(controller::EndLink& action);
  void CarryOutOne(controller::SubmitRequest& action);
  void CarryOutOne(controller::ReadOffsets& action);
  void CarryOutOne(controller::StoreTelemetry& action);
  void CarryOutOne(controller::StoreOutput& action);
  static void CarryOutOne(controller::HigherTermSeen&) {}
  static void CarryOutOne(controller::ScheduleTick&) {}
  static void CarryOutOne(controller::WriteLog&) {}
  // Chooses a layout for the first job that waits for a choice, as the daemon's reader thread does.
  void AnswerLayoutQuestion(Timestamp now);
  // Returns false if the disk is full.
  bool HasSpace(Timestamp now);
  void RunStore(Timestamp now);
  void LearnOffset(const controller::StreamKey& stream);
  void AnswerOffsets(const controller::ReadOffsets& question);
  void WriteGroup();
  void Reply();
  void DeliverStoreResults();
  controller::Stored ToKernel(int64_t link, const v1::StreamId& stream);

  Network& network_;
  Random& random_;
  const controller::CoreOptions options_;

  // The following members survive a crash of the process.
  std::vector<v1::Event> log_;
  std::vector<controller::LogTerm> log_terms_;
  v1::Snapshot snapshot_;
  std::map<int64_t, v1::ArchivedJob> archive_;
  SimulatedStore store_;
  // The mark of the event log that the store contains.
  v1::LogMark store_mark_;
  Timestamp disk_full_until_ms_ = 0;
  Timestamp store_busy_until_ms_ = 0;

  // Terms of log_ and log_terms_.
  controller::LogTerms terms_;
  uint64_t term_ = 0;
  DiskCopy copy_;

  // The leader, the controller that led before it and does not know this yet, and the one of them
  // that acts at present.
  std::unique_ptr<Process> process_;
  std::unique_ptr<Process> deposed_;
  Process* acting_ = nullptr;
  Timestamp deposed_notices_ms_ = 0;
  std::vector<Arrival> inbox_;
  std::vector<Arrival> deposed_inbox_;
  Timestamp now_ = 0;
  int64_t wall_ahead_ms_ = 0;
  Timestamp booted_ms_ = kBootMs;
  std::vector<SentMessage> sent_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_CONTROLLER_H_
