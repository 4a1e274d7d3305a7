// The tree of commands and their options. all_commands.h builds the tree from one file per command.
// Shell completion is generated from the same tree.
#ifndef TRAINYARD_CLI_GRAMMAR_GRAMMAR_H_
#define TRAINYARD_CLI_GRAMMAR_GRAMMAR_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "cli/context/context.h"

namespace trainyard::cli {

// Adds the options that every command accepts.
struct SharedOptions {
  std::string server;
  std::string output = "table";
  std::vector<std::string> recipe_directories;
};

// Must outlive parsing and running, because CLI11 keeps pointers to the variables that options
// fill.
// The runner of each command owns these variables through a shared_ptr, so they live as long as the
// grammar.
struct Grammar {
  CLI::App app{"Trains large language models on a cluster and keeps the run alive.", "trainyard"};
  SharedOptions shared;
  // The words after `--`.
  std::vector<std::string> command;
  // The function that runs each command.
  std::map<const CLI::App*, std::function<Outcome(Context&)>> runners;
  // The commands that accept words after `--`.
  std::set<const CLI::App*> takes_command;
  // The commands that return the exit code of a program of the user. Every error of such a command
  // itself has the exit code kOwnFailure.
  std::set<const CLI::App*> returns_program_code;
};

// The values of -o.
const std::map<std::string, OutputFormat>& OutputFormats();

// Returns the deepest subcommand that was parsed.
const CLI::App& ChosenCommand(const CLI::App& app);

// "trainyard job submit".
std::string FullName(const CLI::App& command);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_GRAMMAR_H_
