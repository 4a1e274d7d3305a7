#include "worker/exec/exec_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "proto/process/spawn.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "worker/exec/exec_program.h"

namespace trainyard::worker {
namespace {

// Returns a file in memory, because the launch contains secrets.
absl::StatusOr<UniqueFd> FileOf(const v1::ExecLaunch& launch) {
  UniqueFd file(memfd_create("exec-launch", MFD_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "cannot make", "a file in memory");
  const bool written =
      launch.SerializeToFileDescriptor(file.get()) && lseek(file.get(), 0, SEEK_SET) == 0;
  if (!written) return ErrnoStatus(errno, "cannot write", "a file in memory");
  return file;
}

}  // namespace

absl::StatusOr<ExecProcess> StartExecProcess(const std::string& worker_program,
                                             const v1::ExecLaunch& launch) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd file, FileOf(launch));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "cannot make", "a pipe");
  const UniqueFd theirs(ends[0]);
  ExecProcess process{0, UniqueFd(ends[1])};
  const int error = Spawn({.command = {worker_program, kExecMode},
                           .fds = {{kExecLaunchFd, file.get()}, {0, theirs.get()}},
                           .close_other_fds = true,
                           .reset_signals = true,
                           .new_group = true},
                          process.pid);
  if (error != 0) return ErrnoStatus(error, "cannot start", worker_program);
  return process;
}

}  // namespace trainyard::worker
