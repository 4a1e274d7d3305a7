#include "worker/exec/exec_program.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/support/status_text.h"
#include "worker/exec/exec_child.h"
#include "worker/exec/exec_session.h"
#include "worker/exec/exec_stream.h"
#include "worker/process/rank_group.h"

namespace trainyard::worker {
namespace {

constexpr int kNoController = 1;
constexpr int kNoLaunch = 2;

bool ReadLaunch(v1::ExecLaunch& launch) {
  const bool read = launch.ParseFromFileDescriptor(kExecLaunchFd);
  close(kExecLaunchFd);
  return read;
}

// Makes this process the owner of the session's processes.
void BecomeOwner() {
  std::ignore = signal(SIGPIPE, SIG_IGN);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "trainyard-exec");
}

absl::StatusOr<ExecChild> ForkCommand(const v1::ExecLaunch& launch) {
  RankCommand command;
  command.argv.assign(launch.command().argv().begin(), launch.command().argv().end());
  command.environment.insert(launch.environment().begin(), launch.environment().end());
  command.working_directory = launch.working_directory();
  command.mark = launch.mark();
  std::optional<TerminalSides> terminal;
  if (launch.command().terminal()) {
    const v1::TerminalSize& size = launch.command().size();
    terminal = {size.rows(), size.columns()};
  }
  absl::StatusOr<ExecChild> child = ExecChild::Fork(command, terminal);
  // Ignore an error: without groups, the mark is enough to find the processes.
  if (child.ok()) JoinRankGroup(launch.mark(), child->pid(), launch.processes_max()).IgnoreError();
  return child;
}

// Sends the reason why the command cannot run.
void Refuse(const std::string& problem, ExecStream& stream) {
  v1::ExecOutput output;
  output.mutable_ended()->set_not_started(true);
  output.mutable_ended()->set_problem(problem);
  stream.Write(output);
  v1::ExecInput input;
  while (stream.Read(input)) {
  }
}

}  // namespace

int RunExec() {
  v1::ExecLaunch launch;
  if (!ReadLaunch(launch)) {
    std::fprintf(stderr, "trainyard-worker exec is run by the worker only\n");
    return kNoLaunch;
  }
  BecomeOwner();
  // Fork first: gRPC starts threads.
  absl::StatusOr<ExecChild> child = absl::FailedPreconditionError(launch.problem());
  if (launch.problem().empty()) child = ForkCommand(launch);
  ExecStream stream;
  if (const absl::Status status = stream.Open(launch); !status.ok()) {
    std::fprintf(stderr, "exec: cannot open the session: %s\n", Text(status).c_str());
    return kNoController;
  }
  if (child.ok()) {
    ExecSession(*child, stream, STDIN_FILENO).Run();
  } else {
    Refuse(Text(child.status()), stream);
  }
  return 0;
}

}  // namespace trainyard::worker
