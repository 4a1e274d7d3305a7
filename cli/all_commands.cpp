#include "cli/all_commands.h"

#include <memory>

#include "cli/commands/checkpoints/checkpoint_commands.h"
#include "cli/commands/documents/completion.h"
#include "cli/commands/documents/explain.h"
#include "cli/commands/documents/schema.h"
#include "cli/commands/jobs/job_commands.h"
#include "cli/commands/jobs/reading/export.h"
#include "cli/commands/jobs/reading/parse.h"
#include "cli/commands/nodes/doctor.h"
#include "cli/commands/nodes/node_commands.h"
#include "cli/commands/planning/convert.h"
#include "cli/commands/planning/cost.h"
#include "cli/commands/planning/scale.h"
#include "cli/commands/queues/queue_commands.h"
#include "cli/commands/recipes/recipe_commands.h"
#include "cli/commands/server/dashboard.h"
#include "cli/commands/server/server_commands.h"
#include "cli/commands/server/version.h"
#include "cli/commands/trials/extrapolate.h"
#include "cli/commands/trials/smoke.h"
#include "cli/commands/trials/tune.h"
#include "cli/data/data_command.h"
#include "cli/dev/dev.h"

namespace trainyard::cli {
namespace {

// Sets the runners of the data commands here, because cli/data is not linked with the grammar.
void AddData(CLI::App& app, Grammar& grammar) {
  CLI::App* data = app.add_subcommand("data", "Prepare text for training");
  data->require_subcommand(1);
  const auto options = std::make_shared<DataOptions>();
  for (const DataCommand& command : AddDataCommands(*data, options.get())) {
    grammar.runners[command.app] = [options, command](Context&) -> Outcome {
      return static_cast<ExitCode>(RunDataCommand(command));
    };
  }
}

// Adds the options that every command accepts.
void AddShared(Grammar& grammar) {
  CLI::App& app = grammar.app;
  app.add_option(
         "-s,--server", grammar.shared.server,
         "address of the controller, or of several controllers: HOST:PORT,HOST:PORT (default: "
         "$TRAINYARD_SERVER, else 127.0.0.1:7070)")
      ->type_name("HOST:PORT");
  std::vector<std::string> names;
  for (const auto& [name, format] : OutputFormats()) names.push_back(name);
  app.add_option("-o,--output", grammar.shared.output, "table, wide, json, yaml, name or csv")
      ->check(CLI::IsMember(names))
      ->type_name("FORMAT");
  app.add_option("--recipes", grammar.shared.recipe_directories,
                 "folder of recipes; may be repeated")
      ->allow_extra_args(false)
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  app.set_version_flag("--version", std::string("trainyard ") + TRAINYARD_VERSION);
}

}  // namespace

void BuildGrammar(Grammar& grammar) {
  CLI::App& app = grammar.app;
  app.require_subcommand(1);
  // Allows shared options after a command: `ps -o json` means `-o json ps`. Every command added
  // below inherits this setting.
  app.fallthrough();
  AddShared(grammar);
  AddDev(app, grammar);
  AddJobCommands(app, grammar);
  AddQueueCommands(app, grammar);
  AddNodeCommands(app, grammar);
  AddCheckpointCommands(app, grammar);
  AddServerCommands(app, grammar);
  AddVersion(app, grammar);
  AddRecipeCommands(app, grammar);
  AddScale(app, grammar);
  AddCost(app, grammar);
  AddConvert(app, grammar);
  AddParse(app, grammar);
  AddExport(app, grammar);
  AddSmoke(app, grammar);
  AddTune(app, grammar);
  AddExtrapolate(app, grammar);
  AddDashboard(app, grammar);
  AddDoctor(app, grammar);
  AddExplain(app, grammar);
  AddSchema(app, grammar);
  AddCompletion(app, grammar);
  AddData(app, grammar);
}

}  // namespace trainyard::cli
