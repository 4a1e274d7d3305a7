#include "cli/commands/jobs/submission/run.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/commands/jobs/reading/waiting_note.h"
#include "cli/commands/jobs/submission/submission.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/jobspec/loader.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"
#include "proto/text/printable.h"

namespace trainyard::cli {
namespace {

// The name of the job file that `run` writes, in messages and origins.
constexpr char kRunFile[] = "trainyard run";
// Together with the suffix of 7 characters, a name has fewer characters than a job may have.
constexpr std::size_t kMaxProgramName = 40;
constexpr std::size_t kIdDigits = 6;

// Returns a name such as "python3-1a2b3c": the name of the program without characters that names of
// jobs may not contain, and part of the request id, so that the same program can run twice.
std::string NameOf(const std::string& program, const std::string& request_id) {
  std::string name;
  for (const char c : std::filesystem::path(program).filename().string()) {
    const bool fits = absl::ascii_isalnum(c) || (!name.empty() && (c == '.' || c == '_'));
    if (fits && name.size() < kMaxProgramName) name.push_back(absl::ascii_tolower(c));
  }
  if (name.empty()) name = "run";
  return absl::StrCat(name, "-", request_id.substr(0, kIdDigits));
}

// Returns the job file of the command. The command runs once, because a program that is started
// like a local one is expected to run once. It runs in the current directory.
std::string JobFileOf(const RunOptions& options, const std::string& request_id) {
  nlohmann::json file = {
      {"name", options.name.empty() ? NameOf(options.command.front(), request_id) : options.name},
      {"command", options.command},
      {"working_directory", std::filesystem::current_path().string()},
      {"restart", {{"max_restarts", 0}}},
      {"resources", {{"nodes", options.nodes}, {"slots_per_node", options.slots_per_node}}}};
  if (!options.device.empty()) file["resources"]["device"] = options.device;
  return DumpJson(file, -1);
}

absl::StatusOr<ResolvedSpec> ResolveCommand(const RunOptions& options,
                                            const std::string& request_id, const Context& context) {
  if (options.command.empty()) {
    return absl::InvalidArgumentError(
        "`trainyard run` needs a command: trainyard run [OPTIONS] -- COMMAND [ARGUMENTS]");
  }
  if (context.format != OutputFormat::kTable) {
    return absl::InvalidArgumentError(
        "run prints only the output of the command and does not support -o; use `trainyard submit`"
        " and `trainyard logs -f`");
  }
  absl::StatusOr<ResolvedSpec> resolved =
      ResolveJobFile(kRunFile, options.sets,
                     LocalTextReader(kRunFile, JobFileOf(options, request_id),
                                     FileSystemReader(context.recipe_directories)));
  if (resolved.ok() && resolved->spec.matrix_size() > 0) {
    return absl::InvalidArgumentError(
        "run starts one job, but `matrix` makes an array of jobs; submit a job file instead");
  }
  return resolved;
}

// Prints the output of a job until the job ends.
class Attachment {
 public:
  // stops: Ctrl-C stops the job instead of only ending this command.
  Attachment(v1::Job job, bool stops, Context& context)
      : job_(std::move(job)), stops_(stops), context_(context) {}

  Outcome Attach() {
    absl::Status status = AwaitStart();
    if (status.ok() && !HasEnded(job_.state())) status = PrintOutput();
    if (absl::IsCancelled(status)) return Interrupted();
    TRAINYARD_RETURN_IF_ERROR(status);
    if (!context_.console.out->good()) return ExitCode::kOwnFailure;
    v1::GetJobRequest request;
    request.set_job(Number());
    TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse response, context_.client.GetJob(request));
    job_ = response.job();
    return ResultOf();
  }

 private:
  std::string Number() const { return absl::StrCat(job_.id()); }

  StreamControl Control() {
    return {context_.environment.interrupt, std::nullopt, [this] {
              PrintNote(context_.console,
                        "connection to the controller lost; the job is not affected; reconnecting");
            }};
  }

  // Returns once the job has slots or has ended, and prints why the job waits.
  absl::Status AwaitStart() {
    v1::WatchJobRequest request;
    request.set_job(Number());
    return context_.client.WatchJob(
        request, Control(), [this](const v1::WatchJobResponse& response) {
          job_ = response.job();
          if (!IsWaiting(job_.state())) return false;
          if (std::exchange(explained_, job_.state()) == job_.state()) return true;
          for (const std::string& note : WaitingNotes(Number(), context_.client)) {
            PrintNote(context_.console, note);
          }
          return true;
        });
  }

  absl::Status PrintOutput() {
    v1::ReadLogsRequest request;
    request.set_job(Number());
    request.set_follow(true);
    const bool several_ranks =
        job_.spec().resources().nodes() > 1 || job_.spec().resources().slots_per_node() > 1;
    std::ostream& out = *context_.console.out;
    return context_.client.ReadLogs(request, Control(), [&](const v1::LogLine& line) {
      if (several_ranks) out << "[" << line.rank() << "] ";
      out << PrintableLine(line.text(), context_.console.out_is_tty) << std::endl;
      return out.good();
    });
  }

  Outcome Interrupted() {
    if (!stops_) {
      PrintNote(context_.console,
                absl::StrCat("detached; job ", Number(), " continues\n  output  trainyard logs -f ",
                             Number(), "\n  stop    trainyard stop ", Number()));
      return ExitCode::kInterrupted;
    }
    v1::StopJobRequest request;
    request.set_job(Number());
    request.set_user(context_.environment.user);
    const absl::Status status = context_.client.StopJob(request).status();
    // The job may have ended in the meantime.
    const bool stops = status.ok() || absl::IsFailedPrecondition(status);
    PrintNote(context_.console,
              stops ? absl::StrCat("interrupted; job ", Number(), " was asked to stop")
                    : absl::StrCat("interrupted; job ", Number(), " could not be stopped: ",
                                   status.message(), "\n  try  trainyard stop ", Number()));
    return ExitCode::kInterrupted;
  }

  // Returns the exit code of the program, or states why the program has none.
  Outcome ResultOf() {
    if (!HasEnded(job_.state())) {
      return absl::UnavailableError(absl::StrCat("the controller closed the stream before job ",
                                                 Number(),
                                                 " ended\nthe job is not affected; follow it with "
                                                 "`trainyard wait -f ",
                                                 Number(), "`"));
    }
    if (job_.state() == v1::JOB_STATE_SUCCEEDED) return ExitCode::kOk;
    const v1::Verdict& verdict = job_.verdict();
    PrintNote(context_.console,
              absl::StrCat("job ", Number(), " ", job_.name(), ": ", OneLine(verdict.summary()),
                           "\n  why  trainyard why ", Number()));
    switch (verdict.cause()) {
      case v1::VERDICT_CAUSE_TIME_LIMIT:
        return ExitCode::kTimeLimitOfProgram;
      case v1::VERDICT_CAUSE_RANK_EXITED:
      case v1::VERDICT_CAUSE_BAD_JOB:
      case v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED:
        if (verdict.exit_code() > 0) return static_cast<ExitCode>(verdict.exit_code());
        break;
      case v1::VERDICT_CAUSE_RANK_SIGNALED:
      case v1::VERDICT_CAUSE_OUT_OF_MEMORY:
        if (verdict.signal() > 0) return ExitCodeOfSignal(verdict.signal());
        break;
      default:
        break;
    }
    return ExitCode::kOwnFailure;
  }

  v1::Job job_;
  const bool stops_;
  Context& context_;
  v1::JobState explained_ = v1::JOB_STATE_UNSPECIFIED;  // The state that was explained last.
};

}  // namespace

void AddRun(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = parent.add_subcommand(
      "run", "Run `-- COMMAND...` as a job, print its output and return its exit code");
  command->add_option("-N,--nodes", options->nodes, "number of nodes (default: 1)")
      ->check(CLI::Range(1, 16384));
  command
      ->add_option("-n,--slots-per-node", options->slots_per_node,
                   "slots on each node; the command runs once per slot (default: 1)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--device", options->device, "kind of slot: gpu (default) or cpu")
      ->check(CLI::IsMember({"gpu", "cpu"}));
  command
      ->add_option("--set", options->sets,
                   "setting of the job, such as env.NCCL_DEBUG=WARN; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--name", options->name,
                      "name of the job (default: the program and a random suffix)");
  command->add_flag("--stop", options->stops,
                    "stop the job on Ctrl-C or SIGTERM instead of detaching from it");
  grammar.takes_command.insert(command);
  grammar.returns_program_code.insert(command);
  grammar.runners[command] = [options, &grammar](Context& context) {
    options->command = grammar.command;
    return RunRun(*options, context);
  };
}

Outcome RunRun(const RunOptions& options, Context& context) {
  const std::string request_id = MakeRequestId();
  TRAINYARD_ASSIGN_OR_RETURN(const ResolvedSpec resolved,
                             ResolveCommand(options, request_id, context));
  if (context.environment.listen_to_signals) context.environment.interrupt->Listen();
  TRAINYARD_ASSIGN_OR_RETURN(v1::Job job, SubmitResolved(resolved, {request_id}, context));
  PrintNote(context.console, absl::StrCat("job ", job.id(), " ", job.name()));
  return Attachment(std::move(job), options.stops, context).Attach();
}

}  // namespace trainyard::cli
