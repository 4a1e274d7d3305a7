#include "cli/commands/jobs/submission/clone.h"

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/client/job_reference.h"
#include "cli/commands/jobs/submission/submission.h"
#include "cli/grammar/option_help.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/jobs/spec_difference.h"
#include "proto/jobspec/changed_spec.h"
#include "proto/jobspec/rules.h"
#include "proto/json/enum_text.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

absl::StatusOr<std::vector<WrittenSetting>> ParseChanges(const std::vector<std::string>& changes) {
  std::vector<WrittenSetting> settings;
  for (const std::string& change : changes) {
    const std::size_t equals = change.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the change \"", change, "\" must have the form KEY=VALUE, such as optimizer.lr=3e-4"));
    }
    const std::string key = change.substr(0, equals);
    settings.push_back({key, key, change.substr(equals + 1)});
  }
  return settings;
}

}  // namespace

void AddClone(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<CloneOptions>();
  CLI::App* command =
      parent.add_subcommand("clone", "Submit a job again, with some settings changed");
  command->add_option("job", options->job, kJobHelp)->required();
  command->add_option("changes", options->changes,
                      "KEY=VALUE, such as optimizer.lr=3e-4 or name=second; null clears a key");
  command->add_flag("--dry-run", options->dry_run, "show the changed settings only");
  command->add_flag("--hold", options->hold, "hold the job until `trainyard resume`");
  command->add_option("--request-id", options->request_id,
                      "idempotency key; repeated commands with the same key create only one job");
  grammar.runners[command] = [options](Context& context) { return RunClone(*options, context); };
}

Outcome RunClone(const CloneOptions& options, Context& context) {
  v1::GetJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(options.job));
  TRAINYARD_ASSIGN_OR_RETURN(const auto settings, ParseChanges(options.changes));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse response, context.client.GetJob(request));
  const v1::Job& source = response.job();
  Origins origins;
  for (const v1::Origin& origin : source.origins()) origins[origin.key()] = origin.source();
  TRAINYARD_ASSIGN_OR_RETURN(
      const ChangedSpec changed,
      ChangeSpec(source.spec(), origins, settings, std::filesystem::current_path().string()));
  const auto problems = CheckJobSpec(changed.spec, changed.origins);
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
  const bool table = IsTable(context.format);
  if (table || options.dry_run) {
    PrintListing(SpecDifference({"before", source.spec()}, {"after", changed.spec}), context.format,
                 context.console);
  }
  if (options.dry_run) return ExitCode::kOk;
  const std::string request_id = options.request_id.empty() ? MakeRequestId() : options.request_id;
  TRAINYARD_ASSIGN_OR_RETURN(const v1::Job job,
                             SubmitResolved({changed.spec, changed.origins},
                                            {request_id, options.hold, source.id()}, context));
  if (table) {
    *context.console.out << "job " << job.id() << " " << job.name() << " " << EnumText(job.state())
                         << ", cloned from job " << source.id() << "\n";
  } else {
    PrintDocument(JobDocument(job, context.console.Now()), absl::StrCat(job.id()), context.format,
                  context.console);
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
