// Receives signals as bytes of a pipe, so that a thread can wait for signals and for input at once.
#ifndef TRAINYARD_CLI_PROCESS_SIGNAL_PIPE_H_
#define TRAINYARD_CLI_PROCESS_SIGNAL_PIPE_H_

#include <csignal>
#include <map>
#include <optional>
#include <vector>

#include "proto/files/unique_fd.h"

namespace trainyard::cli {

// At most one object at a time may exist. The destructor restores the former actions.
class SignalPipe {
 public:
  // If the process has no free descriptor, signals keep their actions.
  explicit SignalPipe(const std::vector<int>& signals);
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  // The descriptor to poll; -1 if there is none.
  int fd() const { return read_end_.get(); }
  // Returns the next signal; nullopt if none has arrived.
  std::optional<int> Next();

 private:
  UniqueFd read_end_;
  UniqueFd write_end_;
  std::map<int, struct sigaction> former_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_SIGNAL_PIPE_H_
