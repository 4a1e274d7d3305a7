#include "cli/convert/script_reader.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/convert/batch_options.h"
#include "cli/convert/environment_reader.h"
#include "cli/convert/launch_line.h"
#include "cli/convert/megatron_reader.h"
#include "cli/convert/source/source_tree.h"
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

// True for a command that the ranks do not need: it only prints, waits or inspects something.
bool IsSilentCommand(const ScriptCommand& command) {
  static const std::set<std::string> words = {
      "echo",   "set",  "printf", "date", "hostname", "mkdir", "nvidia-smi", "wait",
      "ulimit", "true", "pwd",    "env",  "scontrol", "tee",   "tail",       "head",
      "cat",    "ls",   "sleep",  "sync", "touch",    "nproc"};
  return words.contains(command.front().text);
}

// Ranks the commands that may start the training: a trainer that is known, a launcher with a
// program, any launcher, a Python program. 0: starts no training.
int LaunchRank(const ScriptCommand& command) {
  if (IsSilentCommand(command)) return 0;
  if (IsMegatronProgram(command)) return 4;
  if (IsPythonRun(command)) return 1;
  if (!IsLaunchLine(command)) return 0;
  const bool has_program =
      std::any_of(command.begin() + 1, command.end(), [](const ScriptWord& word) {
        const std::string& text = word.text;
        return absl::StrContains(text, ".py") || absl::StrContains(text, "python") ||
               absl::EndsWith(text, "torchrun") || text == "-m" || text == "bash";
      });
  return has_program ? 3 : 2;
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
    for (const ScriptNote& note : script.notes) draft_.Note(note.line, note.text);
    for (const ScriptFile& file : script.files) {
      draft_.Note(file.line, absl::StrCat("the script writes ", file.path,
                                          ", but the job does not; if the program reads this file, "
                                          "write it before you submit the job"));
    }
    const std::vector<ScriptCommand> commands = CommandsOf(script);
    const int run = FindRun(commands);
    TakeVariables(script);
    for (const ScriptVariable& variable : script.exports) {
      const auto found = script.state.variables.find(variable.name);
      if (found != script.state.variables.end()) exported_.variables.insert(*found);
    }
    for (size_t i = 0; i < commands.size(); ++i) {
      if (static_cast<int>(i) == run) {
        TakeRun(commands[i], 0);
      } else {
        TakeCommand(commands[i], static_cast<int>(i) < run || run < 0);
      }
    }
  }

 private:
  // Returns the commands that the script itself runs. Joins a line that begins with an option to
  // the command before it, because commands are often pasted without their backslashes.
  std::vector<ScriptCommand> CommandsOf(const ShellScript& script) {
    std::vector<ScriptCommand> joined;
    for (size_t i = 0; i < script.commands.size(); ++i) {
      const ScriptCommand& command = script.commands[i];
      const int line = command.front().line;
      if (script.readers.contains(static_cast<int>(i))) {
        if (IsSilentCommand(command)) continue;
        draft_.Note(line, absl::StrCat("`", TextOfCommand(command),
                                       "`: reads a text from the script, so it is left out"));
      } else if (!joined.empty() && absl::StartsWith(command.front().text, "--")) {
        joined.back().insert(joined.back().end(), command.begin(), command.end());
        draft_.Note(line,
                    absl::StrCat(command.front().text,
                                 ": the line begins with an option and is read as part of the "
                                 "command before it"));
      } else {
        joined.push_back(command);
      }
    }
    return joined;
  }

  // Returns the index of the command that starts the training; -1 if there is none.
  int FindRun(const std::vector<ScriptCommand>& commands) {
    int best = 0, run = -1;
    std::vector<std::string> programs;
    for (size_t i = 0; i < commands.size(); ++i) {
      const int rank = LaunchRank(commands[i]);
      if (rank == 1) programs.push_back(absl::StrCat(commands[i].front().line));
      if (rank <= best) continue;
      best = rank;
      run = static_cast<int>(i);
    }
    if (best == 1 && programs.size() > 1) {
      draft_.Refuse(
          0, absl::StrCat("the script starts ", programs.size(),
                          " programs without a launcher (lines ", absl::StrJoin(programs, ", "),
                          "), and a job runs only one; pass the line that trains, for "
                          "example on standard input"));
    }
    if (run < 0 && last_starts_) return static_cast<int>(commands.size()) - 1;
    return run;
  }

  void TakeVariables(const ShellScript& script) {
    for (const ScriptVariable& variable : script.exports) {
      const bool is_for_run =
          variable.command < 0 ||
          LaunchRank(script.commands[static_cast<size_t>(variable.command)]) > 0 || last_starts_;
      if (!is_for_run || (variable.value.empty() && variable.open.empty())) continue;
      const bool is_piece = script.used.contains(variable.name) &&
                            variable.value.find_first_of(" \n") != std::string::npos;
      if (is_piece) {
        draft_.LeaveOut(variable.name, "it is a piece of the command");
      } else {
        TakeEnvironment({variable.name, variable.value, variable.open, variable.line}, draft_);
      }
    }
  }

  // Reads a command that does not start the training. `is_before`: it stands before the run.
  void TakeCommand(const ScriptCommand& command, bool is_before) {
    if (IsSilentCommand(command)) {
      return draft_.LeaveOut(
          command.front().text,
          "ranks need no commands that print, wait, inspect or make directories");
    }
    if (command.front().text == "cd") return is_before ? TakeDirectory(command) : void();
    if (LaunchRank(command) > 0) {
      return draft_.Note(
          command.front().line,
          absl::StrCat("`", TextOfCommand(command), "`: this command ",
                       is_before ? "precedes" : "follows",
                       " the training command, but a job runs only one command; write a second job "
                       "file for it"));
    }
    Refuse(command);
  }

  void Refuse(const ScriptCommand& command) {
    const std::string& word = command.front().text;
    static const std::set<std::string> environments = {"module", "source", ".",    "conda",
                                                       "ml",     "pip",    "pip3", "spack",
                                                       "mamba",  "uv",     "git",  "apt-get"};
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
    if (word == "trap") {
      return draft_.Note(
          line, absl::StrCat(text,
                             ": a job has no shell that handles signals; the program itself "
                             "receives time_limit_signal"));
    }
    draft_.Note(line, absl::StrCat(text, " was not understood"));
  }

  void TakeDirectory(const ScriptCommand& command) {
    const std::string directory = command.size() > 1 ? command[1].text : "";
    draft_.At(command.front().line, "cd");
    if (absl::StartsWith(directory, "/") && !absl::StrContains(directory, '$')) {
      return draft_.Set("working_directory", directory);
    }
    draft_.Note(command.front().line,
                absl::StrCat("`", TextOfCommand(command),
                             "`: set working_directory to the full path of this directory"));
  }

  void TakeRun(const ScriptCommand& command, int depth) {
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
    TakeProgram(KeepLauncher(launched, draft_), draft_);
  }

  static bool IsInnerScript(const ScriptCommand& program) {
    return program.size() > 2 && (program[0].text == "bash" || program[0].text == "sh") &&
           absl::StartsWith(program[1].text, "-") && absl::EndsWith(program[1].text, "c");
  }

  // Reads `bash -c "..."`, whose argument is another script.
  void TakeInner(const ScriptCommand& program) {
    const int line = program[2].line;
    absl::StatusOr<ShellScript> inner = EvaluateScript(program[2].text, exported_);
    if (!inner.ok()) return draft_.Refuse(line, std::string(inner.status().message()));
    for (const ScriptNote& note : inner->notes) draft_.Note(line, note.text);
    for (ScriptCommand& command : inner->commands) {
      for (ScriptWord& word : command) word.line += line - 1;
    }
    const std::vector<ScriptCommand> commands = CommandsOf(*inner);
    const int run = FindRun(commands);
    for (size_t i = 0; i < commands.size(); ++i) {
      const bool is_run = static_cast<int>(i) == run;
      if (is_run) TakeRun(commands[i], 1);
      if (!is_run) TakeCommand(commands[i], static_cast<int>(i) < run || run < 0);
    }
  }

  // Handles a script that has one task on a node with several GPUs. The script's program starts the
  // ranks itself.
  void CheckTasks(const LaunchedProgram& launched) {
    const ScriptCommand& program = launched.words;
    const int64_t tasks = launched.tasks_on_node > 0 ? launched.tasks_on_node : tasks_;
    if (!launched.has_launcher && tasks == 1 && draft_.Whole("resources.slots_per_node") > 1) {
      draft_.At(program.front().line, "one task per node");
      draft_.Set(kProcessesPerNode, "1");
      return draft_.Note(
          program.front().line,
          absl::StrCat("SLURM starts one task per node, so the worker starts one process per node, "
                       "which must start a rank on each of ",
                       draft_.Value("resources.slots_per_node"),
                       " slots; if the program runs one rank per process, remove `launch`"));
    }
    if (program.front().text == "bash" || program.front().text == "sh" ||
        absl::EndsWith(program.front().text, ".sh")) {
      draft_.Note(program.front().line,
                  absl::StrCat("`", TextOfCommand(program),
                               "`: this command starts another script on each slot; if that script "
                               "starts the ranks itself, convert it instead, or set `launch: "
                               "{processes_per_node: 1}`"));
    }
  }

  JobDraft& draft_;
  bool keeps_command_;
  bool last_starts_ = false;
  int64_t tasks_ = 0;
  bool starts_run_ = false;
  ShellState exported_;  // The variables that a shell within the command has.
};

// True if a line begins with the name of a launcher or of Python.
bool HasLaunchLine(const std::string& text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view row = absl::StripLeadingAsciiWhitespace(line);
    for (const char* name : {"torchrun ", "srun ", "deepspeed ", "accelerate launch ", "python ",
                             "python3 ", "mpirun "}) {
      if (absl::StartsWith(row, name)) return true;
    }
  }
  return false;
}

bool HasCommandThat(const std::string& text, bool (*holds)(const ScriptCommand&)) {
  const absl::StatusOr<ShellScript> script = EvaluateScript(text);
  // A text that cannot be evaluated is a script only if it looks like one.
  if (!script.ok()) return HasLaunchLine(text);
  return std::any_of(script->commands.begin(), script->commands.end(), holds);
}

// Lists what was left out, which may be the reason why no command is left.
std::string LeftOut(const ShellScript& script) {
  constexpr size_t kMostNotes = 5;
  std::string text;
  for (size_t i = 0; i < script.notes.size() && i < kMostNotes; ++i) {
    absl::StrAppend(&text, "; line ", script.notes[i].line, ": ", script.notes[i].text);
  }
  return text;
}

}  // namespace

bool IsBatchScript(const std::string& text) {
  return absl::StartsWith(text, "#SBATCH") || absl::StrContains(text, "\n#SBATCH");
}

bool IsMegatronScript(const std::string& text) { return HasCommandThat(text, IsMegatronProgram); }

bool IsLaunchScript(const std::string& text) {
  return HasLaunchLine(text) || HasCommandThat(text, IsLaunchLine);
}

bool IsVariableScript(const std::string& text) {
  const absl::StatusOr<ShellScript> script = EvaluateScript(text);
  return script.ok() && script->commands.empty() && !script->state.variables.empty();
}

bool ReadEntrypoint(const ShellScript& script, bool keeps_command, JobDraft& draft) {
  ScriptReader reader(draft, keeps_command);
  reader.set_last_starts();
  reader.Read(script);
  return reader.starts_run();
}

absl::Status ReadScript(const std::string& text, const ScriptOptions& options, ShellState& state,
                        JobDraft& draft) {
  BatchHost host;
  const std::map<std::string, std::string> variables = TakeBatchOptions(text, draft, host);
  state.variables.merge(StateOf(variables).variables);
  TRAINYARD_ASSIGN_OR_RETURN(ShellScript script, EvaluateScript(text, std::move(state)));
  const auto tasks = variables.find("SLURM_NTASKS_PER_NODE");
  ScriptReader reader(draft, options.keeps_command);
  if (tasks != variables.end()) reader.set_tasks(WholeOf(tasks->second).value_or(0));
  reader.Read(script);
  host.Finish(draft);
  state = std::move(script.state);
  if (reader.starts_run() || options.is_before_others) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("has no command that starts training, such as `torchrun ... pretrain_gpt.py "
                   "--num-layers 32`",
                   LeftOut(script)));
}

}  // namespace trainyard::cli
