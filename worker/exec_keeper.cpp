#include "worker/exec_keeper.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/contract/limits.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"

namespace trainyard::worker {
namespace {

std::string TextOf(const RankKey& rank) {
  return absl::StrCat("rank ", rank.rank, " of attempt ", rank.attempt.number, " of job ",
                      rank.attempt.job_id);
}

}  // namespace

ExecKeeper::ExecKeeper(const AttemptKeeper& attempts, std::string worker_program,
                       std::string token_file)
    : attempts_(attempts),
      worker_program_(std::move(worker_program)),
      token_file_(std::move(token_file)) {}

void ExecKeeper::Open(const v1::OpenExec& message, const std::string& controller) {
  Tick();
  const RankKey rank = {{message.job_id(), message.attempt()}, message.rank()};
  // The controller has the same limit. A session is counted until its process has ended.
  if (sessions_.size() >= 2 * kMaxExecSessionsOfNode) {
    return spdlog::warn("exec beside {}: too many sessions have not ended yet", TextOf(rank));
  }
  absl::StatusOr<ExecProcess> process =
      StartExecProcess(worker_program_, LaunchOf(message, controller));
  if (!process.ok()) {
    return spdlog::warn("exec beside {}: {}", TextOf(rank), Text(process.status()));
  }
  spdlog::info("exec beside {} started, pid {}", TextOf(rank), process->pid);
  sessions_.push_back({rank, *std::move(process)});
}

v1::ExecLaunch ExecKeeper::LaunchOf(const v1::OpenExec& message,
                                    const std::string& controller) const {
  v1::ExecLaunch launch;
  launch.set_id(message.id());
  launch.set_controller(controller);
  launch.set_token_file(token_file_);
  absl::StatusOr<RankCommand> command = attempts_.CommandBeside(
      {{message.job_id(), message.attempt()}, message.rank()}, message.command());
  if (!command.ok()) {
    launch.set_problem(Text(command.status()));
    return launch;
  }
  *launch.mutable_command() = message.command();
  launch.mutable_command()->mutable_argv()->Assign(command->argv.begin(), command->argv.end());
  launch.mutable_environment()->insert(command->environment.begin(), command->environment.end());
  launch.mutable_environment()->insert(command->secrets.begin(), command->secrets.end());
  launch.set_working_directory(command->working_directory);
  launch.set_mark(command->mark);
  launch.set_processes_max(command->processes_max);
  return launch;
}

void ExecKeeper::Tick() {
  std::erase_if(sessions_, [](const Session& session) {
    return waitpid(session.process.pid, nullptr, WNOHANG) != 0;
  });
  for (Session& session : sessions_) {
    UniqueFd& lifeline = session.process.lifeline;
    if (!lifeline.valid() || attempts_.Runs(session.rank)) continue;
    const std::string reason = absl::StrCat(TextOf(session.rank), " has ended");
    // A pipe takes a text of this size at once. The session may have ended, too.
    if (write(lifeline.get(), reason.data(), reason.size()) < 0) errno = 0;
    lifeline.Reset();
  }
}

}  // namespace trainyard::worker
