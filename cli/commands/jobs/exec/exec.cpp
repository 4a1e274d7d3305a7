#include "cli/commands/jobs/exec/exec.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/commands/jobs/exec/exec_streams.h"
#include "cli/process/raw_terminal.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::cli {
namespace {

// The exit code of a command that cannot be executed, as in shells.
constexpr int kNotStarted = 127;

struct Target {
  std::string job;
  int rank = 0;
};

// Splits "JOB.RANK". Names of jobs may contain dots, so a job with the whole name precedes.
absl::StatusOr<Target> FindTarget(const ExecOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(std::string job, ParseWholeJob(options.target));
  if (options.rank.has_value()) return Target{job, *options.rank};
  const std::size_t dot = job.rfind('.');
  int rank = 0;
  if (dot == std::string::npos || !absl::SimpleAtoi(job.substr(dot + 1), &rank)) {
    return Target{job, 0};
  }
  v1::GetJobRequest request;
  request.set_job(job);
  const absl::Status found = context.client.GetJob(request).status();
  if (found.ok()) return Target{job, 0};
  if (!absl::IsNotFound(found)) return found;
  return Target{job.substr(0, dot), rank};
}

absl::Status CheckOptions(const ExecOptions& options, const Context& context) {
  if (context.format != OutputFormat::kTable) {
    return absl::InvalidArgumentError(
        "exec prints only the output of the command and does not support -o");
  }
  if (options.terminal && (!context.console.in_is_tty || !context.console.out_is_tty)) {
    return absl::InvalidArgumentError(
        "standard input and output must be a terminal; in a script, use `trainyard exec JOB -- "
        "COMMAND` without --tty");
  }
  if (!options.terminal && options.command.empty()) {
    return absl::InvalidArgumentError(
        "`trainyard exec` needs a command: trainyard exec JOB[.RANK] -- COMMAND [ARGUMENTS]; for a "
        "shell, use `trainyard shell JOB[.RANK]`");
  }
  if (std::ranges::all_of(options.command, [](const std::string& word) { return IsUtf8(word); })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "the command is not UTF-8; pass other bytes through standard input or a file");
}

v1::ExecInput StartOf(const ExecOptions& options, const Target& target, const Context& context) {
  v1::ExecInput input;
  v1::ExecStart& start = *input.mutable_start();
  start.set_job(target.job);
  start.set_rank(target.rank);
  start.set_user(context.environment.user);
  v1::ExecCommand& command = *start.mutable_command();
  command.mutable_argv()->Assign(options.command.begin(), options.command.end());
  command.set_terminal(options.terminal);
  if (!options.terminal) return input;
  const char* type = std::getenv("TERM");
  command.set_terminal_type(type == nullptr ? "dumb" : type);
  const TerminalSides sides = SidesOfTerminal(STDIN_FILENO);
  command.mutable_size()->set_rows(sides.rows);
  command.mutable_size()->set_columns(sides.columns);
  return input;
}

// Runs the session from the worker's first message to the end of the stream.
std::optional<v1::ExecEnded> Converse(const ExecOptions& options, ExecCall& call,
                                      const ExecInputThread& input) {
  v1::ExecOutput first;
  if (input.interrupted() || !call.Read(first)) return std::nullopt;
  std::optional<RawTerminal> raw;
  if (options.terminal) raw.emplace(STDIN_FILENO);
  return CopyExecOutput(call);
}

Outcome ResultOf(const v1::ExecEnded& ended, Context& context) {
  if (!ended.problem().empty()) {
    PrintError(context.console, ended.problem());
    return ended.not_started() ? static_cast<ExitCode>(kNotStarted) : ExitCode::kOwnFailure;
  }
  if (ended.signal() != 0) return ExitCodeOfSignal(ended.signal());
  return static_cast<ExitCode>(ended.exit_code());
}

CLI::App* AddCommand(CLI::App& parent, const std::string& name, const std::string& description,
                     ExecOptions& options) {
  CLI::App* command = parent.add_subcommand(name, description);
  command
      ->add_option("job", options.target,
                   "job, or job and rank, such as llama3-8b.3 or sweep.7.3 (default: rank 0)")
      ->type_name("JOB[.RANK]")
      ->required();
  command
      ->add_option("--rank", options.rank,
                   "number of the rank; JOB is then the whole name of the job")
      ->check(CLI::Range(0, 1 << 20));
  return command;
}

}  // namespace

void AddExec(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ExecOptions>();
  CLI::App* command = AddCommand(
      parent, "exec",
      "Run `-- COMMAND...` beside a rank, in the rank's environment, and return its exit "
      "code",
      *options);
  command->add_flag("-t,--tty", options->terminal, "run the command on a terminal");
  command->add_flag("-n,--no-stdin", options->without_input,
                    "do not read standard input, for example in a loop of a script");
  grammar.takes_command.insert(command);
  grammar.returns_program_code.insert(command);
  grammar.runners[command] = [options, &grammar](Context& context) {
    options->command = grammar.command;
    return RunExec(*options, context);
  };
}

void AddShell(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ExecOptions>();
  CLI::App* command = AddCommand(parent, "shell",
                                 "Open a shell beside a rank, in the rank's environment", *options);
  options->terminal = true;
  grammar.returns_program_code.insert(command);
  grammar.runners[command] = [options](Context& context) { return RunExec(*options, context); };
}

Outcome RunExec(const ExecOptions& options, Context& context) {
  TRAINYARD_RETURN_IF_ERROR(CheckOptions(options, context));
  TRAINYARD_ASSIGN_OR_RETURN(const Target target, FindTarget(options, context));
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<ExecCall> call, context.client.OpenExec());
  call->Write(StartOf(options, target, context));
  std::optional<v1::ExecEnded> ended;
  bool interrupted = false;
  {
    const ExecInputThread input(*call, {options.terminal, options.without_input});
    ended = Converse(options, *call, input);
    interrupted = input.interrupted();
  }
  const absl::Status status = context.client.ExecStatus(call->Finish());
  if (ended.has_value()) return ResultOf(*ended, context);
  if (interrupted) return ExitCode::kInterrupted;
  TRAINYARD_RETURN_IF_ERROR(status);
  return absl::UnavailableError("the controller closed the session without a result");
}

}  // namespace trainyard::cli
