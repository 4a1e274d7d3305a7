#include "cli/commands/jobs/submission/submit.h"

#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/commands/jobs/reading/follow.h"
#include "cli/commands/jobs/submission/submission.h"
#include "cli/commands/planning/plan.h"
#include "cli/commands/planning/plan_layout.h"
#include "cli/grammar/job_file_options.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/terminal/readable.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/rules/resume_check.h"
#include "proto/json/enum_text.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Adds advice to a timeout error: the job may exist, and submitting again with the same id is
// safe.
absl::Status WithRepeatAdvice(const absl::Status& status, const std::string& request_id) {
  const bool unsure = status.code() == absl::StatusCode::kDeadlineExceeded;
  if (!unsure || request_id.empty()) return status;
  return absl::DeadlineExceededError(absl::StrCat(
      status.message(), "\nthe job may have been accepted; repeat the command with --request-id ",
      request_id, " to avoid creating a second job"));
}

// Returns the number of the job that the reference names; 0 for an empty reference.
absl::StatusOr<int64_t> JobNumber(const std::string& reference, Context& context) {
  if (reference.empty()) return 0;
  v1::GetJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(reference));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse response, context.client.GetJob(request));
  return response.job().id();
}

void PrintSubmitted(const v1::Job& job, Context& context, bool hints) {
  Console& console = context.console;
  const bool table =
      context.format == OutputFormat::kTable || context.format == OutputFormat::kWide;
  if (table) {
    *console.out << "job " << job.id() << " " << job.name() << " " << EnumText(job.state())
                 << std::endl;
  } else {
    PrintDocument(JobDocument(job, context.console.Now()), absl::StrCat(job.id()), context.format,
                  console);
  }
  if (!hints) return;
  PrintNote(console,
            absl::StrCat("  follow  trainyard wait -f ", job.id(), "\n  output  trainyard logs -f ",
                         job.id(), "\n  detail  trainyard describe ", job.id()));
}

}  // namespace

void AddSubmit(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* command =
      parent.add_subcommand("submit", "Submit a job. `-- COMMAND...` overrides its command");
  AddJobFileOptions(*command, options->job);
  command->add_flag("-f,--follow", options->follow, "wait until the job ends and show progress");
  command->add_flag("--wait", options->wait, "wait until the job ends, without progress");
  command->add_flag("--dry-run", options->dry_run,
                    "check the job and print its plan, without submitting it");
  command->add_flag("--hold", options->hold, "hold the job until `trainyard resume`");
  command->add_option("--timeout", options->timeout,
                      "maximum time to wait, such as 30m; the job continues afterwards");
  command->add_option("--request-id", options->request_id,
                      "idempotency key; repeated submits with the same key create only one job");
  command
      ->add_option("--after", options->after,
                   "job to wait for, by number or name, and the condition on it: success "
                   "(default), failure, end, checkpoint or checkpoint:STEP; may be repeated; "
                   "replaces `after` of the job file")
      ->type_name("JOB[:CONDITION]")
      ->allow_extra_args(false);
  command->add_option("--cloned-from", options->cloned_from,
                      "job whose settings the job file copies; shown in the lineage of both jobs");
  grammar.takes_command.insert(command);
  grammar.runners[command] = [options, &grammar](Context& context) {
    // RunTrainyard removed the command from the arguments before parsing.
    options->job.command = grammar.command;
    if (!options->after.empty()) {
      options->job.sets.push_back(absl::StrCat("after=", DumpJson(options->after, -1)));
    }
    return RunSubmit(*options, context);
  };
}

Outcome RunSubmit(const SubmitOptions& options, Context& context) {
  if (options.dry_run) return RunPlan({options.job, false}, context);
  if (!options.timeout.empty() && !options.follow && !options.wait) {
    return absl::InvalidArgumentError("--timeout requires --follow or --wait");
  }
  TRAINYARD_ASSIGN_OR_RETURN(const auto deadline, DeadlineFrom(options.timeout));
  TRAINYARD_ASSIGN_OR_RETURN(const ResolvedSpec resolved,
                             ResolveJobFileOptions(options.job, context));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t cloned_from, JobNumber(options.cloned_from, context));
  const CheckpointFit start = CheckResumeFrom(resolved.spec);
  if (!start.problem.empty()) return absl::InvalidArgumentError(start.problem);
  if (!start.unchecked.empty()) {
    PrintNote(context.console, absl::StrCat("note: ", start.unchecked));
  }
  PrintBenchmarkNote(RunConfigOf(resolved.spec), context.console);
  const std::string request_id = options.request_id.empty() ? MakeRequestId() : options.request_id;
  const absl::StatusOr<v1::Job> submitted =
      SubmitResolved(resolved, {request_id, options.hold, cloned_from}, context);
  if (!submitted.ok()) return WithRepeatAdvice(submitted.status(), request_id);
  const v1::Job& job = *submitted;
  const bool stays = options.follow || options.wait;
  // With JSON output and --follow, print nothing here: the first update of the stream contains the
  // job.
  if (!stays || context.format == OutputFormat::kTable || context.format == OutputFormat::kWide) {
    PrintSubmitted(job, context, !stays);
  }
  if (!stays) return ExitCode::kOk;
  return FollowJob({absl::StrCat(job.id()), options.follow, deadline}, context);
}

}  // namespace trainyard::cli
