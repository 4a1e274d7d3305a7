// Starts and ends the exec sessions of this node. Each session is a process of its own
// (worker/exec), so that a session cannot slow or crash the worker.
#ifndef TRAINYARD_WORKER_EXEC_KEEPER_H_
#define TRAINYARD_WORKER_EXEC_KEEPER_H_

#include <string>
#include <vector>

#include "trainyard/v1/exec.pb.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/attempt_keeper.h"
#include "worker/exec/exec_process.h"

namespace trainyard::worker {

// Call all functions on the loop's thread.
class ExecKeeper {
 public:
  // `worker_program` is the worker's own executable. `attempts` must outlive this object.
  // `token_file` is that of AttachOptions.
  ExecKeeper(const AttemptKeeper& attempts, std::string worker_program, std::string token_file);
  // Ends all sessions.
  ~ExecKeeper() = default;

  // Starts the session, which connects to `controller`, the sender of the message. If the command
  // cannot run, the session reports the reason to the client.
  void Open(const v1::OpenExec& message, const std::string& controller);
  // Ends the sessions of ranks that have ended, and reaps ended sessions.
  void Tick();

 private:
  struct Session {
    RankKey rank;
    // The lifeline is closed once the session was told to end.
    ExecProcess process;
  };

  v1::ExecLaunch LaunchOf(const v1::OpenExec& message, const std::string& controller) const;

  const AttemptKeeper& attempts_;
  const std::string worker_program_;
  const std::string token_file_;
  std::vector<Session> sessions_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_EXEC_KEEPER_H_
