#include "cli/commands/documents/completion.h"

#include <memory>
#include <ostream>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/jobspec/fields/schema.h"

namespace trainyard::cli {
namespace {

// One level of the grammar. The level's path is "" for the program and, for example, "job submit"
// for a command.
struct Level {
  std::string path;
  std::vector<std::string> commands;
  std::vector<std::string> options;
  // True if a positional argument names a file or a directory.
  bool files = false;
};

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> OptionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// True if a positional argument of the command names a file or a directory. Such arguments are
// those called `file`, and all arguments of commands for local files.
bool TakesFiles(const CLI::App& app) {
  static const std::set<std::string> kCommands = {"prepare", "verify", "diff", "reshard"};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() &&
        (option->get_single_name() == "file" || kCommands.contains(app.get_name()))) {
      return true;
    }
  }
  return false;
}

// Appends the level of `app` and all levels below it. Global options are offered at every level.
void Collect(const CLI::App& app, const std::string& path, const std::vector<std::string>& global,
             std::vector<Level>& levels) {
  Level level{path, {}, OptionsOf(app), TakesFiles(app)};
  if (!path.empty()) level.options.insert(level.options.end(), global.begin(), global.end());
  for (const CLI::App* command : CommandsOf(app)) level.commands.push_back(command->get_name());
  levels.push_back(level);
  for (const CLI::App* command : CommandsOf(app)) {
    Collect(*command,
            path.empty() ? command->get_name() : absl::StrCat(path, " ", command->get_name()),
            global, levels);
  }
}

std::vector<Level> LevelsOf(const CLI::App& app) {
  std::vector<std::string> global;
  for (const std::string& option : OptionsOf(app)) {
    const bool own = option == "-h" || option == "--help" || option == "--version";
    if (!own) global.push_back(option);
  }
  std::vector<Level> levels;
  Collect(app, "", global, levels);
  return levels;
}

std::string SetKeys() {
  return absl::StrJoin(JobFileKeys(), " ", [](std::string* out, const std::string& key) {
    absl::StrAppend(out, key, "=");
  });
}

std::string FormatNames() {
  return absl::StrJoin(OutputFormats(), " ", [](std::string* out, const auto& format) {
    absl::StrAppend(out, format.first);
  });
}

// Returns patterns for a shell `case`, such as " job"|"job submit". Each pattern is a level, a
// space and one of the level's subcommands.
std::string DescentPatterns(const std::vector<Level>& levels) {
  std::vector<std::string> patterns;
  for (const Level& level : levels) {
    for (const std::string& command : level.commands) {
      patterns.push_back(absl::StrCat("\"", level.path, " ", command, "\""));
    }
  }
  return absl::StrJoin(patterns, "|");
}

std::string WordCases(const std::vector<Level>& levels) {
  std::string text;
  for (const Level& level : levels) {
    absl::StrAppend(&text, "    \"", level.path, "\") candidates=\"",
                    absl::StrJoin(level.commands, " "), level.commands.empty() ? "" : " ",
                    absl::StrJoin(level.options, " "), "\"; files=", level.files ? "1" : "0",
                    " ;;\n");
  }
  return text;
}

// The scripts use the name `level` for Level::path, because zsh ties a variable called `path` to
// PATH.
constexpr char kBash[] = R"(# bash completion: source <(trainyard completion bash)
_trainyard() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local level="" candidates="" files=0 word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case "$level $word" in
      @DESCENT@) level="${level:+$level }$word" ;;
    esac
  done
  # -o of `data prepare` is its --out.
  if [ "$level:$previous" = "data prepare:-o" ]; then previous=--out; fi
  case "$previous" in
    --set) COMPREPLY=($(compgen -W "@KEYS@" -- "$current")); compopt -o nospace; return ;;
    -o|--output) COMPREPLY=($(compgen -W "@FORMATS@" -- "$current")); return ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$current")); return ;;
    --data-dir|--recipes|--out)
      compopt -o filenames
      COMPREPLY=($(compgen -d -- "$current"))
      return ;;
  esac
  case "$level" in
@WORDS@  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
  if [ "$files" = 1 ] && [ "${current#-}" = "$current" ]; then
    compopt -o filenames
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -F _trainyard trainyard yard
)";

constexpr char kZsh[] = R"(#compdef trainyard yard
# zsh completion: source <(trainyard completion zsh)
_trainyard() {
  local current=${words[CURRENT]} previous=${words[CURRENT-1]}
  local level="" candidates="" files=0 word
  for word in ${words[2,CURRENT-1]}; do
    case "$level $word" in
      @DESCENT@) level="${level:+$level }$word" ;;
    esac
  done
  # -o of `data prepare` is its --out.
  [[ "$level:$previous" = "data prepare:-o" ]] && previous=--out
  case "$previous" in
    --set) compadd -S '' -- ${=:-@KEYS@}; return ;;
    -o|--output) compadd -- ${=:-@FORMATS@}; return ;;
    completion) compadd -- bash zsh fish; return ;;
    --data-dir|--recipes|--out) _files -/; return ;;
  esac
  case "$level" in
@WORDS@  esac
  [[ $files = 1 && $current != -* ]] && _files
  compadd -- ${=candidates}
}
compdef _trainyard trainyard yard
)";

constexpr char kFish[] = R"(# fish completion: trainyard completion fish | source
function __trainyard_level
  set -l level ""
  for word in (commandline -opc)[2..-1]
    switch "$level $word"
      case @FISH_DESCENT@
        set level (string trim "$level $word")
    end
  end
  test "$level" = "$argv[1]"
end
for program in trainyard yard
  complete -c $program -f
@FISH_WORDS@end
)";

std::string FishOption(const std::string& name) {
  const bool is_long = name.rfind("--", 0) == 0;
  return absl::StrCat(is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
}

// Returns true for -o of `data prepare`, where -o means --out instead of --output.
bool IsPrepareOut(const std::string& option, const Level& level) {
  return option == "-o" && level.path == "data prepare";
}

bool TakesFormat(const std::string& option, const Level& level) {
  return option == "--output" || (option == "-o" && !IsPrepareOut(option, level));
}

bool TakesDirectory(const std::string& option, const Level& level) {
  return option == "--data-dir" || option == "--recipes" || option == "--out" ||
         IsPrepareOut(option, level);
}

std::string FishWords(const std::vector<Level>& levels) {
  std::string text;
  for (const Level& level : levels) {
    const std::string start =
        absl::StrCat("  complete -c $program -n '__trainyard_level \"", level.path, "\"'");
    if (!level.commands.empty()) {
      absl::StrAppend(&text, start, " -a '", absl::StrJoin(level.commands, " "), "'\n");
    }
    for (const std::string& option : level.options) {
      absl::StrAppend(&text, start, FishOption(option));
      if (option == "--set") absl::StrAppend(&text, " -x -a '", SetKeys(), "'");
      if (TakesFormat(option, level)) absl::StrAppend(&text, " -x -a '", FormatNames(), "'");
      if (TakesDirectory(option, level)) text += " -x -a '(__fish_complete_directories)'";
      text += "\n";
    }
    if (level.files) absl::StrAppend(&text, start, " -F\n");
    if (level.path == "completion") absl::StrAppend(&text, start, " -a 'bash zsh fish'\n");
  }
  return text;
}

}  // namespace

void AddCompletion(CLI::App& parent, Grammar& grammar) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = parent.add_subcommand(
      "completion", "Print a completion script: source <(trainyard completion bash)");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  grammar.runners[command] = [shell, &grammar](Context& context) {
    return RunCompletion(*shell, grammar.app, context);
  };
}

std::string CompletionScript(const std::string& shell, const CLI::App& app) {
  const std::vector<Level> levels = LevelsOf(app);
  const std::string descent = DescentPatterns(levels);
  const char* script = shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
  return absl::StrReplaceAll(script,
                             {{"@DESCENT@", descent},
                              {"@FISH_DESCENT@", absl::StrReplaceAll(descent, {{"|", " "}})},
                              {"@KEYS@", SetKeys()},
                              {"@FORMATS@", FormatNames()},
                              {"@WORDS@", WordCases(levels)},
                              {"@FISH_WORDS@", FishWords(levels)}});
}

Outcome RunCompletion(const std::string& shell, const CLI::App& app, Context& context) {
  *context.console.out << CompletionScript(shell, app);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
