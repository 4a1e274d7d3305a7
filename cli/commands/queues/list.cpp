#include "cli/commands/queues/list.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "cli/output/cluster/queue_views.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void MakeQueueList(CLI::App& command, Grammar& grammar) {
  const auto limit = std::make_shared<int>(100);
  command
      .add_option("--limit", *limit, "maximum number of jobs of each kind of slot (default: 100)")
      ->check(CLI::Range(1, 10'000));
  grammar.runners[&command] = [limit](Context& context) { return RunQueueList(*limit, context); };
}

void AddQueueShares(CLI::App& queue, Grammar& grammar) {
  CLI::App* command =
      queue.add_subcommand("shares", "Queues with their shares, limits, and slots in use");
  grammar.runners[command] = [](Context& context) { return RunQueueShares(context); };
}

Outcome RunQueueList(int limit, Context& context) {
  v1::ListQueuesRequest request;
  request.set_limit(limit);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListQueuesResponse response,
                             context.client.ListQueues(request));
  PrintListing(QueuedJobListing(response), context.format, context.console);
  if (!IsTable(context.format)) return ExitCode::kOk;
  if (response.jobs().empty()) {
    PrintNote(context.console, "no job waits; `trainyard queue shares` lists the queues");
  } else if (response.jobs_size() < response.waiting_jobs()) {
    PrintNote(context.console,
              absl::StrCat("showing ", response.jobs_size(), " of ", response.waiting_jobs(),
                           " waiting jobs; raise --limit to see more"));
  }
  return ExitCode::kOk;
}

Outcome RunQueueShares(Context& context) {
  v1::ListQueuesRequest request;
  request.set_limit(1);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListQueuesResponse response,
                             context.client.ListQueues(request));
  PrintListing(QueueListing(response), context.format, context.console);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
