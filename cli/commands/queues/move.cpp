#include "cli/commands/queues/move.h"

#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void AddQueueMove(CLI::App& queue, Grammar& grammar) {
  const auto options = std::make_shared<QueueMoveOptions>();
  CLI::App* command =
      queue.add_subcommand("move", "Move a job to another queue, or change its priority");
  command->add_option("job", options->job, kJobHelp)->required();
  command->add_option("--queue", options->queue, "new queue");
  command->add_option("--priority", options->priority, "new priority, -1000 to 1000");
  grammar.runners[command] = [options](Context& context) {
    return RunQueueMove(*options, context);
  };
}

Outcome RunQueueMove(const QueueMoveOptions& options, Context& context) {
  if (options.queue.empty() && !options.priority.has_value()) {
    return absl::InvalidArgumentError("add --queue NAME, --priority N, or both");
  }
  v1::MoveJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(options.job));
  request.set_queue(options.queue);
  request.set_user(context.environment.user);
  if (options.priority.has_value()) request.set_priority(*options.priority);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::MoveJobResponse response, context.client.MoveJob(request));
  const v1::Job& job = response.job();
  if (!IsTable(context.format)) {
    PrintDocument(StableJson(job), absl::StrCat(job.id()), context.format, context.console);
    return ExitCode::kOk;
  }
  *context.console.out << "job " << job.id() << " " << job.name() << ": queue " << job.queue()
                       << ", priority " << job.priority() << "\n";
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
