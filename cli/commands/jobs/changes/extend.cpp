#include "cli/commands/jobs/changes/extend.h"

#include <cstdint>
#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/table.h"
#include "proto/jobspec/fields/scalar_text.h"
#include "proto/support/status_macros.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

absl::StatusOr<int64_t> ParseAddedTime(const std::string& text) {
  const absl::StatusOr<int64_t> ms = ParseDurationMs(std::string(absl::StripPrefix(text, "+")));
  if (ms.ok() && *ms > 0) return ms;
  return absl::InvalidArgumentError(absl::StrCat(
      "the time to add is \"", text, "\", but must be a duration above 0, such as +2h or 30m"));
}

// Returns the earlier extensions of the job, so that a repeated request extends the limit only
// once.
absl::StatusOr<int64_t> ExtendedMs(const std::string& job, Context& context) {
  v1::GetJobRequest request;
  request.set_job(job);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse response, context.client.GetJob(request));
  return response.job().time_limit_use().extended_ms();
}

void PrintExtended(const v1::Job& job, Context& context) {
  if (!IsTable(context.format)) {
    return PrintDocument(StableJson(job), absl::StrCat(job.id()), context.format, context.console);
  }
  *context.console.out << "job " << job.id() << " " << job.name() << ": "
                       << ShortDuration(job.time_limit_use().remaining_ms())
                       << " left until its time limit\n";
}

}  // namespace

void AddExtend(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ExtendOptions>();
  CLI::App* command = parent.add_subcommand("extend", "Add time to the time limit of a job");
  command->add_option("job", options->job, kJobHelp)->required();
  command->add_option("by", options->by, "time to add, such as +2h")->required();
  grammar.runners[command] = [options](Context& context) { return RunExtend(*options, context); };
}

Outcome RunExtend(const ExtendOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string job, ParseWholeJob(options.job));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t by_ms, ParseAddedTime(options.by));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t extended_ms, ExtendedMs(job, context));
  v1::ExtendJobRequest request;
  request.set_job(job);
  request.set_user(context.environment.user);
  request.set_extended_ms(extended_ms);
  request.mutable_by()->set_seconds(by_ms / 1000);
  request.mutable_by()->set_nanos(static_cast<int32_t>(by_ms % 1000) * 1'000'000);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ExtendJobResponse response,
                             context.client.ExtendJob(request));
  PrintExtended(response.job(), context);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
