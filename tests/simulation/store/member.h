// One controller of several on a simulated database: a candidate that becomes the leader, with the
// rules of controller/store/leader and controller/kernel. The process can be paused between any two
// steps, and it can be killed.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_MEMBER_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_MEMBER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/schedule/cluster_view.h"
#include "controller/kernel/replayed_state.h"
#include "controller/kernel/tick_kernel.h"
#include "controller/kernel/worker_actions.h"
#include "controller/kernel/worker_kernel.h"
#include "controller/store/leader/leader_kernel.h"
#include "tests/simulation/store/connection.h"
#include "tests/simulation/store/simulated_event_log.h"
#include "tests/simulation/store/world.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::simulation {

class Member {
 public:
  Member(int number, World& world);
  ~Member();

  // Starts the process, as a candidate.
  void Start();
  // Ends the process. It starts again later.
  void Kill();
  // Stops the process for `ms`. Its connections stay, and messages to it wait.
  void Pause(int64_t ms);
  // Hands the leadership over to the controller with this number, after the next renewal.
  void HandOver(int successor);
  void StepWallClock(int64_t ms) { wall_ahead_ms_ += ms; }

  // Call when messages arrive at the process.
  void Receive(const ClientRequest& request);
  void ReceiveFromWorker(int64_t link, const std::string& node_id, v1::WorkerMessage message);
  void LinkClosed(int64_t link);
  // Call when the database has ended a session.
  void SessionEnded(int64_t session);

  bool IsUp() const { return is_up_; }
  bool Leads() const { return leading_ != nullptr; }
  int64_t take_overs() const { return take_overs_; }
  // The number of take-overs that continued the state of this member as a standby.
  int64_t continued() const { return continued_; }
  int64_t commits_refused() const { return commits_refused_; }
  int64_t commits_unknown() const { return commits_unknown_; }

 private:
  // The data of a leader, which ends with the process.
  struct Leading;
  // The state that a start reads from the database.
  struct Opened;

  ClockReading Clock() const;
  // Runs `work` in the process after `ms`, and after a pause that is in effect then.
  void Run(int64_t ms, std::function<void()> work);
  void RunNow(uint64_t life, std::function<void()> work);
  void Continue();
  // Possibly pauses the process after a step.
  void AfterStep();
  // Sends a statement. The answer arrives in the process.
  void Call(const std::shared_ptr<Connection>& connection, const Connection::Limits& limits,
            Connection::Statement statement, Connection::Done done);
  // Ends the process, after a kill or because it cannot continue.
  void End();

  void ConnectSeat();
  void BeginStep();
  void CarryOut(controller::LeaderAction action);
  void Answered(controller::LeaderAnswer answer);
  void StepEnded();
  void NameSuccessor();
  // Gives up the leadership, because a worker has seen a leader of a higher term.
  void PassTerm();
  // Sends a last statement, and ends the process with its session.
  void EndAfter(Connection::Statement statement);
  bool MayAnswer() const;

  // A candidate follows the log of the leader, in a session of its own.
  void Follow();
  void Followed(controller::LogTail::Batch batch);
  void StopFollowing();
  void OpenStores();
  void Lead(Opened opened);
  // Starts the timer of the loop.
  void RepeatTicks();
  void ScheduleTick();
  void Tick();
  void TryWrite();
  void Append(const std::vector<controller::LogRecord>& records,
              const std::vector<v1::ArchivedJob>& archived);
  // Continues an append with the next step, unless the step before has failed.
  void ContinueAppend(const absl::Status& status, const std::function<void()>& next);
  void Appended(const absl::Status& status);
  void Committed();
  void UndoTick(const absl::Status& cause);
  void WriteSnapshotIfDue();
  // Runs `work` on the loop, which is blocked while it appends.
  void OnLoop(std::function<void()> work);
  void RunWaiting();
  // Sends a statement of the loop's connection to the event log.
  using LogStatement = std::function<absl::Status(SimulatedEventLog& log, int64_t session)>;
  void CallLog(LogStatement statement, Connection::Done done);

  void HandleRequest(const ClientRequest& request);
  void List(const ClientRequest& request);
  void Answer(int client, ClientAnswer answer);
  void CarryOut(controller::WorkerActions actions);
  void CarryOutOne(controller::SendMessage& action);
  void CarryOutOne(controller::EndLink& action);
  void CarryOutOne(controller::SubmitRequest& action);
  void CarryOutOne(controller::ReadOffsets& action);
  static void CarryOutOne(controller::StoreTelemetry&) {}
  static void CarryOutOne(controller::StoreOutput&) {}
  void CarryOutOne(controller::HigherTermSeen& action) { higher_term_ = action.term; }
  void CarryOutOne(controller::ScheduleTick&) { ScheduleTick(); }
  static void CarryOutOne(controller::WriteLog&) {}

  const int number_;
  World& world_;
  int64_t wall_ahead_ms_ = 0;
  bool is_up_ = false;
  uint64_t life_ = 0;  // Of the process. Work of an earlier life is not run.
  Timestamp paused_until_ms_ = 0;
  std::deque<std::pair<uint64_t, std::function<void()>>> held_;  // Work that waits for the pause.

  std::unique_ptr<controller::LeaderKernel> kernel_;
  std::shared_ptr<Connection> seat_;
  bool opens_stores_ = false;
  // The session in which this candidate reads the log, and the state that it has rebuilt.
  std::shared_ptr<Connection> tail_;
  controller::ReplayedState replayed_;
  int64_t higher_term_ = 0;  // The highest term that a worker has seen, if it is above this one.
  std::string successor_;    // The standby to which this leader hands over; empty if there is none.
  std::unique_ptr<Leading> leading_;
  // The process that ended last, kept because its functions may still be on the stack.
  std::unique_ptr<Leading> ended_;

  int64_t take_overs_ = 0;
  int64_t continued_ = 0;
  int64_t commits_refused_ = 0;
  int64_t commits_unknown_ = 0;
};

struct Member::Opened {
  std::shared_ptr<Connection> writer;
  std::shared_ptr<SimulatedEventLog> log;
  // The state of this member as a standby, if its session has not ended.
  std::optional<controller::ReplayedState> continued;
  controller::EventLog::Recovery recovery;  // Without `continued`.
};

struct Member::Leading {
  Leading(controller::CoreOptions core, controller::WorkerKernel::Options options, Opened opened)
      : writer(std::move(opened.writer)),
        log(std::move(opened.log)),
        tick(std::move(core)),
        workers(tick.state(), tick.observations(), tick.options(), std::move(options)) {}

  std::shared_ptr<Connection> writer;
  std::shared_ptr<SimulatedEventLog> log;
  controller::TickKernel tick;
  controller::WorkerKernel workers;
  std::map<int64_t, std::string> node_of_link;
  // True from the decision to the answer to its append. The loop is blocked meanwhile.
  bool is_appending = false;
  std::deque<std::function<void()>> waiting;  // Work for the blocked loop.
  bool tick_scheduled = false;
  bool is_confirmed_noted = false;
  std::size_t appended_events = 0;  // Of the present append.
  uint64_t snapshot_sequence = 0;
  std::shared_ptr<Connection> snapshot_writer;
  bool is_writing_snapshot = false;
  Timestamp retry_space_at_ms = 0;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_MEMBER_H_
