#include "cli/grammar/operator_grammar.h"

#include <memory>
#include <string>

namespace trainyard::cli {

void AddRemoveNode(CLI::App& node, Grammar& grammar) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = node.add_subcommand("remove", "Forget a lost node");
  command->add_option("node", *name, "a node's name or id")->required();
  grammar.runners[command] = [name](Context& context) { return RunRemoveNode(*name, context); };
}

void AddReleaseNode(CLI::App& node, Grammar& grammar) {
  const auto options = std::make_shared<ReleaseOptions>();
  CLI::App* command = node.add_subcommand("release", "End the quarantine of a node");
  command->add_option("node", options->node, "a node's name or id")->required();
  command->add_option("--reason", options->reason, "why, for everyone who asks");
  grammar.runners[command] = [options](Context& context) {
    return RunReleaseNode(*options, context);
  };
}

void AddServerCheck(CLI::App& server, Grammar& grammar) {
  const auto data_dir = std::make_shared<std::string>();
  CLI::App* command = server.add_subcommand(
      "check", "Read every page of the store; exit 1 when something is damaged");
  command->add_option(
      "--data-dir", *data_dir,
      "data directory of a controller that is stopped (asked of the one that runs)");
  grammar.runners[command] = [data_dir](Context& context) {
    return RunServerCheck(*data_dir, context);
  };
}

void AddServerSessions(CLI::App& server, Grammar& grammar) {
  const auto options = std::make_shared<SessionsOptions>();
  CLI::App* command =
      server.add_subcommand("sessions", "List or end sessions of the dashboard in browsers");
  CLI::Option* end =
      command->add_option("--end", options->ended_ids, "end this session; repeatable");
  end->allow_extra_args(false)->type_name("ID");
  command->add_flag("--end-all", options->end_all, "end all sessions")->excludes(end);
  grammar.runners[command] = [options](Context& context) {
    return RunServerSessions(*options, context);
  };
}

void AddOperatorCommands(CLI::App& app, Grammar& grammar) {
  grammar.runners[app.add_subcommand("dashboard", "Print the address that opens the dashboard")] =
      [](Context& context) { return RunDashboard(context); };
  grammar.runners[app.add_subcommand("doctor", "Checks of every node; exit 1 when one fails")] =
      [](Context& context) { return RunDoctor(context); };
}

}  // namespace trainyard::cli
