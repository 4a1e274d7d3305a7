#include "cli/app.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <ostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/all_commands.h"
#include "proto/access/controller_list.h"
#include "proto/jobspec/fields/schema.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

constexpr char kDefaultPort[] = ":7070";

// Returns the names of the commands below `app`. If `options` is true, returns instead the long
// options of `app` and of all levels above `app`.
std::vector<std::string> KnownWords(const CLI::App& app, bool options) {
  std::vector<std::string> words;
  if (!options) {
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      words.push_back(command->get_name());
    }
    return words;
  }
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : level->get_options()) {
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
  }
  return words;
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(word, known);
  return nearest.empty() ? "" : absl::StrCat("; did you mean `", nearest, "`?");
}

// Returns the message for an error in the command line. For an unknown word, the message suggests
// the nearest known word.
std::string UsageMessage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = ChosenCommand(app);
  // The words that no option and no command at any level has accepted.
  const std::vector<std::string> extras = app.remaining(true);
  const std::string help = absl::StrCat("\nsee `", FullName(command), " --help`");
  if (extras.empty()) return absl::StrCat(error.what(), help);
  const std::string& word = extras.front();
  if (absl::StartsWith(word, "-")) {
    const std::string name = word.substr(0, word.find('='));
    return absl::StrCat("`", FullName(command), "` has no option `", name, "`",
                        DidYouMean(name, KnownWords(command, true)), help);
  }
  const std::vector<std::string> commands = KnownWords(command, false);
  if (commands.empty()) return absl::StrCat("unexpected `", word, "`", help);
  return absl::StrCat("`", FullName(command), "` has no command `", word, "`",
                      DidYouMean(word, commands), help);
}

// Returns the exit code for an error of the chosen command.
int ErrorCode(const Grammar& grammar, ExitCode code) {
  const bool own = grammar.returns_program_code.contains(&ChosenCommand(grammar.app));
  return static_cast<int>(own ? ExitCode::kOwnFailure : code);
}

int ReportParseError(const Grammar& grammar, const CLI::ParseError& error, Console& console) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    grammar.app.exit(error, *console.out, *console.err);  // --help and --version.
    return 0;
  }
  // `trainyard` without arguments prints the help instead of an error.
  const bool bare =
      &ChosenCommand(grammar.app) == &grammar.app && grammar.app.remaining(true).empty();
  if (bare && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    *console.err << grammar.app.help();
  } else {
    PrintError(console, UsageMessage(grammar.app, error));
  }
  return ErrorCode(grammar, ExitCode::kUsage);
}

// Returns "HOST:PORT" for "HOST:PORT", "HOST" or an IPv6 address, with or without brackets. Adds
// the default port if there is none.
absl::StatusOr<std::string> ServerAddress(const std::string& text) {
  // True if the text is empty, is a URL, or has more than one word.
  const bool strange = text.empty() || absl::StrContains(text, "/") ||
                       text.find_first_of(" \t\r\n") != std::string::npos;
  if (strange) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the controller's address `", text, "` must have the form HOST:PORT (set with --server or ",
        "$TRAINYARD_SERVER)"));
  }
  const std::size_t colon = text.rfind(':');
  const bool bare_ipv6 = std::count(text.begin(), text.end(), ':') > 1 && text.front() != '[';
  if (bare_ipv6) return absl::StrCat("[", text, "]", kDefaultPort);
  if (colon == std::string::npos || text.back() == ']') return absl::StrCat(text, kDefaultPort);
  return text;
}

// Returns the address of each controller in a list such as "HOST:PORT,HOST:PORT".
absl::StatusOr<std::vector<std::string>> ServerAddresses(const std::string& text) {
  if (!absl::StrContains(text, ",")) {
    TRAINYARD_ASSIGN_OR_RETURN(std::string address, ServerAddress(text));
    return std::vector<std::string>{std::move(address)};
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<std::string> addresses, SplitControllers(text));
  for (std::string& address : addresses) {
    TRAINYARD_ASSIGN_OR_RETURN(address, ServerAddress(address));
  }
  return addresses;
}

// Returns the arguments before the first "--", in the reverse order that CLI11's parse requires.
// Sets `command`, the job's command, to the words after the "--".
std::vector<std::string> SplitCommand(const std::vector<std::string>& arguments,
                                      std::vector<std::string>& command) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) command.assign(std::next(dashes), arguments.end());
  return {std::make_reverse_iterator(dashes), arguments.rend()};
}

// Rejects an option of a noun, such as -a in `job -a list` and `job describe 1 -a`, if a command
// follows the noun. Only shared options and options of the chosen command have an effect.
absl::Status CheckOptionsOfNouns(const CLI::App& command) {
  for (const CLI::App* noun = command.get_parent();
       noun != nullptr && noun->get_parent() != nullptr; noun = noun->get_parent()) {
    for (const CLI::Option* option : noun->get_options()) {
      if (option->count() == 0) continue;
      const std::string name = option->get_name();
      const bool misplaced = command.get_option_no_throw(name) != nullptr;
      return absl::InvalidArgumentError(
          misplaced ? absl::StrCat("`", name, "` must be placed after `", FullName(command), "`")
                    : absl::StrCat("`", FullName(command), "` has no option `", name, "`\nsee `",
                                   FullName(command), " --help`"));
    }
  }
  return absl::OkStatus();
}

// has_command: true if the command line contains "--", even if no word follows it.
Outcome RunChosenCommand(Grammar& grammar, bool has_command, Environment& environment) {
  const CLI::App& command = ChosenCommand(grammar.app);
  TRAINYARD_RETURN_IF_ERROR(CheckOptionsOfNouns(command));
  if (has_command && !grammar.takes_command.contains(&command)) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", FullName(command), "` accepts no command after `--`"));
  }
  if (has_command && grammar.command.empty()) {
    return absl::InvalidArgumentError("there is no command after `--`");
  }
  TRAINYARD_ASSIGN_OR_RETURN(
      std::vector<std::string> controllers,
      ServerAddresses(grammar.shared.server.empty() ? environment.server : grammar.shared.server));
  Client client(std::move(controllers), environment.limits, environment.access);
  Context context{environment, environment.console, client,
                  OutputFormats().at(grammar.shared.output), grammar.shared.recipe_directories};
  context.recipe_directories.insert(context.recipe_directories.end(),
                                    environment.recipe_directories.begin(),
                                    environment.recipe_directories.end());
  return grammar.runners.at(&command)(context);
}

// Prints the error of a command, if any, and returns the exit code. Lost output, for example
// because the disk is full, is an error too.
int Report(const Grammar& grammar, const Outcome& outcome, Console& console) {
  console.out->flush();
  if (!outcome.ok()) {
    PrintError(console, std::string(outcome.status().message()));
    return ErrorCode(grammar, ExitCodeOf(outcome.status()));
  }
  if (!console.out->good() && *outcome == ExitCode::kOk) {
    PrintError(console, "the output could not be written");
    return ErrorCode(grammar, ExitCode::kFailed);
  }
  return static_cast<int>(*outcome);
}

}  // namespace

int RunTrainyard(const std::vector<std::string>& arguments, Environment& environment) {
  Console& console = environment.console;
  try {
    Grammar grammar;
    BuildGrammar(grammar);
    std::vector<std::string> reversed = SplitCommand(arguments, grammar.command);
    const bool has_command = reversed.size() != arguments.size();
    try {
      grammar.app.parse(std::move(reversed));
    } catch (const CLI::ParseError& error) {
      return ReportParseError(grammar, error, console);
    }
    return Report(grammar, RunChosenCommand(grammar, has_command, environment), console);
  } catch (const std::exception& error) {
    PrintError(console, absl::StrCat("internal error: ", error.what()));
    return static_cast<int>(ExitCode::kFailed);
  }
}

}  // namespace trainyard::cli
