#include "proto/process/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace trainyard {
namespace {

// Owns the actions on descriptors (posix_spawn_file_actions_t) for the start of one program.
class FileActions {
 public:
  explicit FileActions(const SpawnOptions& options) {
    posix_spawn_file_actions_init(&actions_);
    int highest = STDERR_FILENO;
    for (const SpawnFd& fd : options.fds) {
      highest = std::max(highest, fd.number);
      if (fd.source == kNullDevice) {
        posix_spawn_file_actions_addopen(&actions_, fd.number, "/dev/null", O_RDWR, 0);
      } else {
        posix_spawn_file_actions_adddup2(&actions_, fd.source, fd.number);
      }
    }
    if (options.close_other_fds) posix_spawn_file_actions_addclosefrom_np(&actions_, highest + 1);
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Owns the attributes (posix_spawnattr_t) for the start of one program.
class Attributes {
 public:
  explicit Attributes(const SpawnOptions& options) {
    posix_spawnattr_init(&attributes_);
    int flags = 0;
    if (options.reset_signals) {
      sigset_t signals;
      sigemptyset(&signals);
      posix_spawnattr_setsigmask(&attributes_, &signals);
      sigfillset(&signals);
      posix_spawnattr_setsigdefault(&attributes_, &signals);
      flags |= POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    }
    if (options.new_group) {
      posix_spawnattr_setpgroup(&attributes_, 0);
      flags |= POSIX_SPAWN_SETPGROUP;
    }
    posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// Returns the pointers that exec needs. The pointers are not const, although exec does not change
// the texts.
std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

int Spawn(const SpawnOptions& options, pid_t& pid) {
  const FileActions actions(options);
  const Attributes attributes(options);
  const std::vector<char*> command = Pointers(options.command);
  std::vector<char*> variables;
  if (options.environment.has_value()) variables = Pointers(*options.environment);
  return posix_spawnp(&pid, command[0], actions.get(), attributes.get(), command.data(),
                      options.environment.has_value() ? variables.data() : environ);
}

int AwaitExit(pid_t pid) {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(pid, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return ended < 0 ? -1 : status;
}

}  // namespace trainyard
