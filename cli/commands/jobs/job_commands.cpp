#include "cli/commands/jobs/job_commands.h"

#include "cli/commands/jobs/changes/delete.h"
#include "cli/commands/jobs/changes/extend.h"
#include "cli/commands/jobs/changes/note.h"
#include "cli/commands/jobs/changes/pause.h"
#include "cli/commands/jobs/changes/stop.h"
#include "cli/commands/jobs/exec/exec.h"
#include "cli/commands/jobs/reading/array.h"
#include "cli/commands/jobs/reading/code_diff.h"
#include "cli/commands/jobs/reading/dataset.h"
#include "cli/commands/jobs/reading/describe.h"
#include "cli/commands/jobs/reading/experts.h"
#include "cli/commands/jobs/reading/logs.h"
#include "cli/commands/jobs/reading/metrics.h"
#include "cli/commands/jobs/reading/ps.h"
#include "cli/commands/jobs/reading/report.h"
#include "cli/commands/jobs/reading/wait.h"
#include "cli/commands/jobs/reading/why.h"
#include "cli/commands/jobs/submission/clone.h"
#include "cli/commands/jobs/submission/documents.h"
#include "cli/commands/jobs/submission/run.h"
#include "cli/commands/jobs/submission/submit.h"
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
