// Starts a program in a child process, and waits for its end.
#ifndef TRAINYARD_PROTO_PROCESS_SPAWN_H_
#define TRAINYARD_PROTO_PROCESS_SPAWN_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// An open descriptor of the child.
struct SpawnFd {
  // Number in the child.
  int number = 0;
  // Descriptor of this process, or kNullDevice.
  int source = 0;
};

// /dev/null, for reading and writing.
inline constexpr int kNullDevice = -1;

struct SpawnOptions {
  // The program, as a path or as a name in PATH, and its arguments. No shell is involved.
  std::vector<std::string> command;
  // Variables as NAME=VALUE; nullopt: the environment of this process.
  std::optional<std::vector<std::string>> environment;
  // Opened in this order, so no source may be the number of an earlier entry.
  std::vector<SpawnFd> fds;
  // Closes all descriptors above the standard ones and above those in `fds`. Otherwise the child
  // inherits every descriptor without O_CLOEXEC.
  bool close_other_fds = false;
  // Unblocks all signals and restores their default actions. Otherwise the child inherits blocked
  // and ignored signals.
  bool reset_signals = false;
  // Makes the child the leader of a new process group.
  bool new_group = false;
};

// Starts the program and sets `pid`. Returns 0, or the errno value of the failed start, including
// that of exec. Thread-safe: does not copy this process, unlike fork.
int Spawn(const SpawnOptions& options, pid_t& pid);

// Waits until the child has ended, and reaps it. Returns its status as waitpid does, or -1 with
// errno if it is not a child of this process.
int AwaitExit(pid_t pid);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PROCESS_SPAWN_H_
