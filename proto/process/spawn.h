// Starts a program in a child process, and waits until it ends.
#ifndef TRAINYARD_PROTO_PROCESS_SPAWN_H_
#define TRAINYARD_PROTO_PROCESS_SPAWN_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// A descriptor that is open in the child.
struct SpawnFd {
  // The number of the descriptor in the child.
  int number = 0;
  // The descriptor in this process, or kNullDevice.
  int source = 0;
};

// As a source: /dev/null, opened for reading and writing.
inline constexpr int kNullDevice = -1;

struct SpawnOptions {
  // The program, as a path or as a name in PATH, and its arguments. No shell is used.
  std::vector<std::string> command;
  // Variables as NAME=VALUE. nullopt means the environment of this process.
  std::optional<std::vector<std::string>> environment;
  // Set up in this order, so the source of an entry must not be the number of an earlier entry.
  std::vector<SpawnFd> fds;
  // If true, all descriptors except the standard ones and those in `fds` are closed in the child.
  // If false, the child also inherits every descriptor without O_CLOEXEC.
  bool close_other_fds = false;
  // If true, all signals are unblocked and get their default actions in the child. If false, the
  // child inherits blocked and ignored signals.
  bool reset_signals = false;
  // If true, the child becomes the leader of a new process group.
  bool new_group = false;
};

// Starts the program and sets `pid`. Returns 0, or the errno value if the start failed, including a
// failure of exec. Thread-safe, because the start does not copy this process as fork does.
int Spawn(const SpawnOptions& options, pid_t& pid);

// Waits until the child ends, reaps it, and returns its status in the form of waitpid. If `pid` is
// not a child of this process, returns -1 and sets errno.
int AwaitExit(pid_t pid);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PROCESS_SPAWN_H_
