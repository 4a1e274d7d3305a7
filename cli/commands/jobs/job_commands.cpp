#include "cli/commands/jobs/job_commands.h"

#include "cli/commands/jobs/array.h"
#include "cli/commands/jobs/clone.h"
#include "cli/commands/jobs/code_diff.h"
#include "cli/commands/jobs/dataset.h"
#include "cli/commands/jobs/delete.h"
#include "cli/commands/jobs/describe.h"
#include "cli/commands/jobs/documents.h"
#include "cli/commands/jobs/exec.h"
#include "cli/commands/jobs/experts.h"
#include "cli/commands/jobs/extend.h"
#include "cli/commands/jobs/logs.h"
#include "cli/commands/jobs/metrics.h"
#include "cli/commands/jobs/note.h"
#include "cli/commands/jobs/pause.h"
#include "cli/commands/jobs/ps.h"
#include "cli/commands/jobs/report.h"
#include "cli/commands/jobs/run.h"
#include "cli/commands/jobs/stop.h"
#include "cli/commands/jobs/submit.h"
#include "cli/commands/jobs/wait.h"
#include "cli/commands/jobs/why.h"
#include "cli/commands/planning/plan.h"

namespace trainyard::cli {
namespace {

// Adds the commands that exist both at the top level and under `job`.
void AddDailyCommands(CLI::App& parent, Grammar& grammar) {
  AddSubmit(parent, grammar);
  AddRun(parent, grammar);
  AddPlan(parent, grammar);
  AddDescribe(parent, grammar);
  AddWhy(parent, grammar);
  AddReport(parent, grammar);
  AddLogs(parent, grammar);
  AddExec(parent, grammar);
  AddShell(parent, grammar);
  AddMetrics(parent, grammar);
  AddExperts(parent, grammar);
  AddDataset(parent, grammar);
  AddDocuments(parent, grammar);
  AddStop(parent, grammar);
  AddPause(parent, grammar);
  AddExtend(parent, grammar);
  AddNote(parent, grammar);
  AddArray(parent, grammar);
  AddClone(parent, grammar);
  AddCodeDiff(parent, grammar);
  AddDelete(parent, grammar);
  AddWait(parent, grammar);
}

}  // namespace

void AddJobCommands(CLI::App& app, Grammar& grammar) {
  MakeJobList(*app.add_subcommand("ps", "List jobs"), grammar);
  AddDailyCommands(app, grammar);
  CLI::App* job = app.add_subcommand("job", "All commands for jobs, such as `job list`");
  job->require_subcommand(0, 1);
  MakeJobList(*job, grammar);
  MakeJobList(*job->add_subcommand("list", "Alias of ps"), grammar);
  AddDailyCommands(*job, grammar);
}

}  // namespace trainyard::cli
