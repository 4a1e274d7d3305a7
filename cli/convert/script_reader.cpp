#include "cli/convert/script_reader.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/convert/batch_options.h"
#include "cli/convert/launch_line.h"
#include "cli/convert/megatron_reader.h"
#include "cli/convert/source/source_tree.h"
#include "proto/contract/environment.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

bool IsMegatronProgram(const ScriptCommand& command) {
  for (const ScriptWord& word : command) {
    if (absl::EndsWith(word.text, ".py") && absl::StrContains(word.text, "pretrain_")) return true;
  }
  return false;
}

std::string TextOfCommand(const ScriptCommand& command) {
  return absl::StrJoin(command, " ",
                       [](std::string* out, const ScriptWord& word) { out->append(word.text); });
}

// True for variables that the worker sets for each rank, such as the address of the first rank.
bool IsWorkersVariable(const std::string& name) {
  static const std::set<std::string> names = {environment::kMasterAddress,
                                              environment::kMasterPort,
                                              environment::kWorldSize,
                                              environment::kRank,
                                              environment::kLocalRank,
                                              environment::kNodeRank,
                                              environment::kGroupRank,
                                              environment::kLocalWorldSize,
                                              environment::kCudaDevices,
                                              "GPUS_PER_NODE",
                                              "NNODES"};
  return names.contains(name);
}

class ScriptReader {
 public:
  ScriptReader(JobDraft& draft, bool keeps_command)
      : draft_(draft), keeps_command_(keeps_command) {}

  // SLURM's tasks per node; 0 if the script does not state it.
  void set_tasks(int64_t tasks) { tasks_ = tasks; }
  // If no command is recognized as starting the run, assumes that the last command starts the run.
  void set_last_starts() { last_starts_ = true; }

  bool starts_run() const { return starts_run_; }

  void Read(const ShellScript& script) {
    for (const ScriptVariable& variable : script.exports) {
      const bool is_for_run =
          variable.command < 0 ||
          IsLaunchLine(script.commands[static_cast<size_t>(variable.command)]) ||
          IsMegatronProgram(script.commands[static_cast<size_t>(variable.command)]);
      if (is_for_run) TakeVariable(variable);
    }
    const std::vector<ScriptCommand> commands = Joined(script.commands);
    const bool is_known =
        std::any_of(commands.begin(), commands.end(), [](const ScriptCommand& command) {
          return IsMegatronProgram(command) || IsLaunchLine(command);
        });
    for (size_t i = 0; i < commands.size(); ++i) {
      const bool is_run = last_starts_ && !is_known && i + 1 == commands.size();
      if (is_run) TakeRun(commands[i], 0);
      if (!is_run) TakeCommand(commands[i], 0);
    }
  }

 private:
  // Joins a line that begins with an option to the command before it, because commands are often
  // pasted without their backslashes.
  static std::vector<ScriptCommand> Joined(const std::vector<ScriptCommand>& commands) {
    std::vector<ScriptCommand> joined;
    for (const ScriptCommand& command : commands) {
      if (!joined.empty() && absl::StartsWith(command.front().text, "--")) {
        joined.back().insert(joined.back().end(), command.begin(), command.end());
      } else {
        joined.push_back(command);
      }
    }
    return joined;
  }

  void TakeVariable(const ScriptVariable& variable) {
    if (IsWorkersVariable(variable.name) || absl::StartsWith(variable.name, "SLURM_")) return;
    if (absl::StrContains(variable.value, '$') || absl::StrContains(variable.value, '`')) {
      return draft_.Note(variable.line,
                         absl::StrCat("export ", variable.name, "=", variable.value,
                                      ": the value of this variable is not in the script; set env.",
                                      variable.name));
    }
    if (!variable.value.empty()) draft_.Set(absl::StrCat("env.", variable.name), variable.value);
  }

  void TakeCommand(const ScriptCommand& command, int depth) {
    if (IsMegatronProgram(command)) return TakeRun(command, depth);
    if (command.front().text == "cd") return TakeDirectory(command);
    if (IsLaunchLine(command)) return TakeRun(command, depth);
    if (IsSilent(command.front().text)) return;
    Refuse(command);
  }

  // True for a command that the ranks do not need: it only prints, waits or inspects something.
  static bool IsSilent(const std::string& word) {
    static const std::set<std::string> words = {
        "echo", "set",  "printf", "date", "hostname", "mkdir", "nvidia-smi", "wait", "ulimit",
        "true", "exit", "pwd",    "env",  "scontrol", "tee",   "tail",       "head", "cat"};
    return words.contains(word);
  }

  void Refuse(const ScriptCommand& command) {
    const std::string& word = command.front().text;
    static const std::set<std::string> environments = {"module", "source", ".",    "conda",
                                                       "ml",     "pip",    "pip3", "spack",
                                                       "mamba",  "uv",     "git",  "apt-get"};
    static const std::set<std::string> control = {"if",       "fi",   "for", "while", "done",
                                                  "else",     "then", "do",  "case",  "esac",
                                                  "function", "[",    "[["};
    const int line = command.front().line;
    const std::string text = absl::StrCat("`", TextOfCommand(command), "`");
    if (environments.contains(word)) {
      return draft_.Note(
          line,
          absl::StrCat(
              text,
              ": this command prepares the shell, but ranks start without a shell; set env.PATH "
              "and related variables, or use the program's full path"));
    }
    if (control.contains(word)) {
      return draft_.Note(
          line, absl::StrCat(text, ": ignored, because it takes effect only when the script runs"));
    }
    draft_.Note(line, absl::StrCat(text, " was not understood"));
  }

  void TakeDirectory(const ScriptCommand& command) {
    const std::string directory = command.size() > 1 ? command[1].text : "";
    if (absl::StartsWith(directory, "/") && !absl::StrContains(directory, '$')) {
      return draft_.Set("working_directory", directory);
    }
    draft_.Note(command.front().line,
                absl::StrCat("`", TextOfCommand(command),
                             "`: set working_directory to the full path of this directory"));
  }

  void TakeRun(const ScriptCommand& command, int depth) {
    if (starts_run_) {
      return draft_.Note(command.front().line,
                         absl::StrCat("`", TextOfCommand(command),
                                      "`: this command follows the training command, but a job "
                                      "runs only one command; write a second job file for it"));
    }
    const LaunchedProgram launched = TakeLauncher(command, draft_);
    const ScriptCommand& program = launched.words;
    if (depth == 0 && IsInnerScript(program)) return TakeInner(program);
    starts_run_ = true;
    if (program.empty()) return;
    if (!draft_.Has("resources.slots_per_node")) {
      draft_.Note(command.front().line,
                  "the number of GPUs per node is unknown; set resources.slots_per_node");
    }
    if (IsMegatronProgram(program) && !keeps_command_) return ReadMegatronWords(program, draft_);
    CheckTasks(launched);
    TakeProgram(program, draft_);
  }

  static bool IsInnerScript(const ScriptCommand& program) {
    return program.size() > 2 && (program[0].text == "bash" || program[0].text == "sh") &&
           absl::StartsWith(program[1].text, "-") && absl::EndsWith(program[1].text, "c");
  }

  // Reads `bash -c "..."`, whose argument is another script.
  void TakeInner(const ScriptCommand& program) {
    const absl::StatusOr<ShellScript> inner = SplitScript(program[2].text);
    if (!inner.ok()) return;
    for (ScriptCommand command : inner->commands) {
      for (ScriptWord& word : command) word.line += program[2].line - 1;
      TakeCommand(command, 1);
    }
  }

  // Handles a script that has one task on a node with several GPUs. The script's program starts the
  // ranks itself.
  void CheckTasks(const LaunchedProgram& launched) {
    const ScriptCommand& program = launched.words;
    if (program.front().text == "bash" || program.front().text == "sh" ||
        absl::EndsWith(program.front().text, ".sh")) {
      draft_.Note(
          program.front().line,
          absl::StrCat(
              "`", TextOfCommand(program),
              "`: this command starts another script, which may start the ranks itself, but one "
              "launcher per node is not supported yet; convert that script instead"));
    }
    const int64_t tasks = launched.tasks_on_node > 0 ? launched.tasks_on_node : tasks_;
    if (!launched.has_launcher && tasks == 1 && draft_.Whole("resources.slots_per_node") > 1) {
      draft_.Note(
          program.front().line,
          absl::StrCat("SLURM starts one task per node, but the job starts a rank on each of ",
                       draft_.Value("resources.slots_per_node"),
                       " slots, because one launcher per node is not supported yet"));
    }
  }

  JobDraft& draft_;
  bool keeps_command_;
  bool last_starts_ = false;
  int64_t tasks_ = 0;
  bool starts_run_ = false;
};

bool HasCommandThat(const std::string& text, bool (*holds)(const ScriptCommand&)) {
  const absl::StatusOr<ShellScript> script = SplitScript(text);
  // Splitting fails only if variables of a script expand without limit. So the text is a
  // script.
  if (!script.ok()) return true;
  for (const ScriptCommand& command : script->commands) {
    if (holds(command)) return true;
  }
  return false;
}

}  // namespace

bool IsBatchScript(const std::string& text) {
  return absl::StartsWith(text, "#SBATCH") || absl::StrContains(text, "\n#SBATCH");
}

bool IsMegatronScript(const std::string& text) { return HasCommandThat(text, IsMegatronProgram); }

bool IsLaunchScript(const std::string& text) { return HasCommandThat(text, IsLaunchLine); }

bool ReadEntrypoint(const ShellScript& script, bool keeps_command, JobDraft& draft) {
  ScriptReader reader(draft, keeps_command);
  reader.set_last_starts();
  reader.Read(script);
  return reader.starts_run();
}

absl::Status ReadScript(const std::string& text, bool keeps_command, JobDraft& draft) {
  BatchHost host;
  const std::map<std::string, std::string> variables = TakeBatchOptions(text, draft, host);
  TRAINYARD_ASSIGN_OR_RETURN(const ShellScript script, SplitScript(text, variables));
  const auto tasks = variables.find("SLURM_NTASKS_PER_NODE");
  ScriptReader reader(draft, keeps_command);
  if (tasks != variables.end()) reader.set_tasks(WholeOf(tasks->second).value_or(0));
  reader.Read(script);
  host.Finish(draft);
  if (reader.starts_run()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "has no command that starts training, such as `torchrun ... pretrain_gpt.py --num-layers "
      "32`");
}

}  // namespace trainyard::cli
