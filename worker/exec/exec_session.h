// Runs an exec session: moves bytes between the command and the stream until one of them ends.
#ifndef TRAINYARD_WORKER_EXEC_EXEC_SESSION_H_
#define TRAINYARD_WORKER_EXEC_EXEC_SESSION_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "proto/files/unique_fd.h"
#include "worker/exec/exec_child.h"
#include "worker/exec/exec_stream.h"

namespace trainyard::worker {

// The session ends when the command ends, when the stream ends, or when the worker writes a reason
// to the lifeline or closes it. No process of the session remains, except one that hangs in the
// kernel.
class ExecSession {
 public:
  // Both objects must outlive this one. `lifeline` is the read end of a pipe from the worker.
  ExecSession(ExecChild& child, ExecStream& stream, int lifeline);

  // Blocks until the session has ended and its result was sent.
  void Run();

 private:
  // Bodies of the threads.
  void ReadInput();
  void WriteOutput();
  void WatchLifeline();
  void AwaitExit();

  void Handle(const v1::ExecInput& input);
  void PassSignal(int signal);
  // Blocks until the command has taken the bytes, or no longer reads.
  void WriteInput(const std::string& data);
  // Reads once from `fd` and sends the bytes. Returns false once the descriptor, or the stream, has
  // ended.
  bool Forward(int fd, bool is_error);
  // Starts the end of the session. The first reason counts; empty if the stream has ended.
  void Close(const std::string& reason);
  void Set(bool& flag);
  // Waits until the flag is set. Returns false at the limit.
  bool WaitFor(const bool& flag, std::chrono::milliseconds limit);
  // Waits for the end of the command or of the session, and ends all processes.
  void EndProcesses();
  // Waits until the output has been sent.
  void AwaitOutput();
  v1::ExecEnded Result();
  // Sends the message to the client, and waits until the controller has ended the stream.
  void Send(const v1::ExecEnded& ended);

  ExecChild& child_;
  ExecStream& stream_;
  const int lifeline_;
  // An eventfd that becomes readable when the threads should stop.
  UniqueFd stop_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // mutex_ guards all members below, except wait_status_.
  bool released_ = false;
  bool exited_ = false;  // The command has ended and is not reaped.
  bool reaped_ = false;
  bool closing_ = false;
  bool processes_ended_ = false;
  bool output_ended_ = false;
  bool input_ended_ = false;
  std::string reason_;
  // As of waitpid, after EndProcesses; -1 if the command could not be ended.
  int wait_status_ = -1;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_EXEC_EXEC_SESSION_H_
