// Moves bytes between the descriptors of this process and an exec session.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_EXEC_EXEC_STREAMS_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_EXEC_EXEC_STREAMS_H_

#include <atomic>
#include <optional>
#include <thread>

#include "cli/client/exec_call.h"
#include "cli/process/signal_pipe.h"
#include "proto/files/unique_fd.h"

namespace trainyard::cli {

// Sends standard input, signals and changes of the terminal's size to the command, from a thread of
// its own. Without a terminal, the first SIGINT, SIGTERM, SIGHUP or SIGQUIT is passed to the
// command, and the second one ends the session. With a terminal, the first one ends the session.
class ExecInputThread {
 public:
  struct Options {
    bool terminal = false;
    bool without_input = false;
  };

  // `call` must outlive this object.
  ExecInputThread(ExecCall& call, const Options& options);
  // Stops the thread. The stream must have ended.
  ~ExecInputThread();

  // True if the user has ended the session.
  bool interrupted() const { return interrupted_.load(); }

 private:
  void Run();
  // Return false at the end of input, or of the stream.
  bool SendInput();
  bool SendEnd();
  void SendSignals();

  ExecCall& call_;
  const Options options_;
  SignalPipe signals_;
  UniqueFd stop_;
  std::atomic<bool> interrupted_{false};
  int received_ = 0;  // Number of signals that ask to end. Used by the thread only.
  std::thread thread_;
};

// Writes output to stdout and stderr until the stream has ended. Returns the last message; nullopt
// if the stream ended without it.
std::optional<v1::ExecEnded> CopyExecOutput(ExecCall& call);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_EXEC_EXEC_STREAMS_H_
