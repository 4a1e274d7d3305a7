#include "cli/convert/launch_line.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/convert/batch_nodes.h"
#include "cli/convert/batch_options.h"
#include "cli/convert/shell/shell_token.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {
namespace {

constexpr char kNodes[] = "resources.nodes";
constexpr char kSlots[] = "resources.slots_per_node";
// Temporary keys for counts: all ranks of the gang, srun's total tasks, srun's tasks per node, and
// GPUs per task. The counts are converted to counts per node after all options have been read.
constexpr char kAllRanks[] = "ranks";
constexpr char kTasks[] = "tasks";
constexpr char kNodeTasks[] = "tasks per node";
constexpr char kTaskGpus[] = "GPUs per task";

constexpr char kNotUnderstood[] = ": not understood";

// The options of one launcher. Maps each option's name, with dashes, to a setting.
struct Launcher {
  std::map<std::string, std::string> settings;
  std::set<std::string> switches;  // Options that take no value.
  std::set<std::string> silent;    // Rendezvous and output options; the worker handles these.
  // Starts the command of a launcher that stays, because an option of it has no setting. The
  // launcher gets rendezvous and ranks from variables of the worker. Empty if the launcher cannot
  // stay.
  std::vector<std::string> command = {};
};

const Launcher& Torchrun() {
  static const Launcher launcher = {
      {{"nnodes", kNodes}, {"nproc-per-node", kSlots}, {"max-restarts", "restart.max_restarts"}},
      {"standalone", "module", "m", "no-python", "run-path", "use-env"},
      {"standalone", "module", "m", "node-rank", "master-addr", "master-port", "rdzv-id",
       "rdzv-backend", "rdzv-endpoint", "rdzv-conf", "log-dir", "redirects", "tee", "role",
       "monitor-interval", "start-method", "local-addr", "use-env", "local-ranks-filter"},
      {"torchrun"}};
  return launcher;
}

const Launcher& DeepSpeedLauncher() {
  static const Launcher launcher = {
      {{"num-nodes", kNodes}, {"num-gpus", kSlots}},
      {"module", "no-python", "no-local-rank", "no-ssh", "no-ssh-check", "force-multi",
       "enable-each-rank-log"},
      {"module", "master-addr", "master-port", "launcher", "no-ssh", "no-ssh-check", "force-multi",
       "no-local-rank", "node-rank", "enable-each-rank-log", "launcher-args"}};
  return launcher;
}

const Launcher& Accelerate() {
  static const Launcher launcher = {
      {{"num-machines", kNodes}, {"num-processes", kAllRanks}},
      {"multi-gpu", "use-deepspeed", "use-fsdp", "module", "m", "same-network"},
      {"multi-gpu", "module", "m", "machine-rank", "main-process-ip", "main-process-port",
       "rdzv-backend", "rdzv-conf", "same-network"},
      {"sh", "-c",
       "exec accelerate launch --num_machines \"$NNODES\" --machine_rank \"$NODE_RANK\" "
       "--num_processes \"$((NNODES * NPROC_PER_NODE))\" --main_process_ip \"$MASTER_ADDR\" "
       "--main_process_port \"$MASTER_PORT\" \"$@\"",
       "accelerate"}};
  return launcher;
}

const Launcher& Srun() {
  static const Launcher launcher = {{{"nodes", kNodes},
                                     {"N", kNodes},
                                     {"ntasks-per-node", kNodeTasks},
                                     {"ntasks", kTasks},
                                     {"n", kTasks},
                                     {"gpus-per-task", kTaskGpus}},
                                    {"label", "l", "unbuffered", "u", "exclusive", "overlap", "K",
                                     "Q", "quiet", "kill-on-bad-exit", "export-all"},
                                    {"label",   "l",         "unbuffered", "u",
                                     "overlap", "K",         "Q",          "quiet",
                                     "mpi",     "cpu-bind",  "wait",       "kill-on-bad-exit",
                                     "jobid",   "job-name",  "J",          "output",
                                     "o",       "error",     "e",          "cpus-per-task",
                                     "c",       "partition", "p",          "account",
                                     "A",       "export",    "exclusive",  "threads-per-core",
                                     "hint"}};
  return launcher;
}

struct OtherLauncher {
  std::string system;
  std::string advice;
};

// Launchers without a counterpart, each with advice about what to use instead. These launchers
// start processes in their own way.
const std::map<std::string, OtherLauncher>& OtherLaunchers() {
  static const std::string program =
      "name the program itself in `command`; the program must read the variables of torchrun";
  static const std::map<std::string, OtherLauncher> launchers = {
      {"mpirun", {"MPI", program}},
      {"mpiexec", {"MPI", program}},
      {"horovodrun", {"Horovod", program}},
      {"ray", {"Ray", program}},
      {"deepy.py",
       {"GPT-NeoX's launcher",
        "convert the configuration that the command names, for example with `trainyard convert "
        "configs/20B.yml`"}}};
  return launchers;
}

bool IsOptionWord(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

std::string FileNameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool IsPython(const std::string& word) { return absl::StartsWith(FileNameOf(word), "python"); }

bool IsTorchModule(const std::string& word) {
  return word == "torch.distributed.run" || word == "torch.distributed.launch" ||
         word == "determined.launch.torch_distributed" || word == "determined.launch.deepspeed";
}

// Reads the launcher's options at the beginning of a command.
class LauncherReader {
 public:
  LauncherReader(ScriptCommand words, JobDraft& draft) : words_(std::move(words)), draft_(draft) {}

  LaunchedProgram Read() {
    // Launchers may be nested: srun may start torchrun, and Determined's launcher may start another
    // launcher.
    constexpr int kMostLaunchers = 3;
    for (int i = 0; i < kMostLaunchers && at_ < words_.size(); ++i) {
      if (!TakeOne()) break;
    }
    Finish();
    if (starts_program_ && at_ < words_.size()) launched_.words = Program();
    return std::move(launched_);
  }

 private:
  const std::string& Now() const { return words_[at_].text; }
  bool IsWord(size_t at, const std::string& text) const {
    return at < words_.size() && words_[at].text == text;
  }

  // Reads one launcher. Returns false if the next word is not a launcher.
  bool TakeOne() {
    const std::string name = FileNameOf(Now());
    if (name == "srun") return Take(Srun(), 1, "srun");
    if (name == "torchrun") return Take(Torchrun(), 1, "torchrun");
    if (name == "deepspeed") return Take(DeepSpeedLauncher(), 1, "deepspeed");
    if (name == "accelerate" && IsWord(at_ + 1, "launch"))
      return Take(Accelerate(), 2, "accelerate");
    if (IsPython(name) && IsWord(at_ + 1, "-m") && at_ + 2 < words_.size() &&
        IsTorchModule(words_[at_ + 2].text)) {
      return Take(
          absl::EndsWith(words_[at_ + 2].text, "deepspeed") ? DeepSpeedLauncher() : Torchrun(), 3,
          words_[at_ + 2].text);
    }
    const bool is_script = IsPython(name) && at_ + 1 < words_.size();
    RefuseOther(is_script ? FileNameOf(words_[at_ + 1].text) : name);
    return false;
  }

  void RefuseOther(const std::string& name) {
    const auto other = OtherLaunchers().find(name);
    if (other == OtherLaunchers().end()) return;
    draft_.Note(words_[at_].line,
                absl::StrCat(name, ": ", other->second.system,
                             " starts the ranks of all nodes itself, which a job cannot do; ",
                             other->second.advice));
    starts_program_ = false;
    at_ = words_.size();
  }

  bool Take(const Launcher& launcher, size_t words, const std::string& name) {
    if (name != "srun" && absl::StartsWith(name, "determined") && IsWord(at_ + words, "--trial")) {
      draft_.Note(words_[at_].line,
                  "--trial: a trial class needs Determined's harness, which a job does not have; "
                  "name a program that runs without the harness");
      starts_program_ = false;
    }
    at_ += words;
    while (at_ < words_.size() && IsOptionWord(Now())) TakeOption(launcher, name);
    if (IsWord(at_, "--")) ++at_;
    launched_.has_launcher = launched_.has_launcher || name != "srun";
    return true;
  }

  void TakeOption(const Launcher& launcher, const std::string& name) {
    const int line = words_[at_].line;
    option_at_ = at_;
    const std::string written = Now();
    std::string option = written.substr(written.find_first_not_of('-') == std::string::npos
                                            ? written.size()
                                            : written.find_first_not_of('-'));
    std::string value;
    ++at_;
    const size_t equals = option.find('=');
    if (equals != std::string::npos) {
      value = option.substr(equals + 1);
      option.resize(equals);
    }
    std::replace(option.begin(), option.end(), '_', '-');
    if (option == "m" || option == "module") is_module_ = true;
    if (equals == std::string::npos && TakesValue(launcher, option)) value = words_[at_++].text;
    Apply(launcher, name, option, value, line);
  }

  // An unknown option takes the next word, unless that word is an option or the program.
  bool TakesValue(const Launcher& launcher, const std::string& option) const {
    if (at_ >= words_.size() || launcher.switches.contains(option)) return false;
    if (launcher.settings.contains(option) || launcher.silent.contains(option)) return true;
    return !IsOptionWord(Now()) && !absl::EndsWith(Now(), ".py");
  }

  void Apply(const Launcher& launcher, const std::string& name, const std::string& option,
             const std::string& value, int line) {
    const std::string written = absl::StrCat(name, " ", option.size() == 1 ? "-" : "--", option);
    draft_.At(line, written);
    const std::string text = absl::StrCat(written, value.empty() ? "" : " ", value);
    if (name == "srun" && (option == "gres" || option == "gpus-per-node")) {
      return TakeGpus(option, value, text, line);
    }
    if (name == "srun" && TakeBatchNodes(LongNodeOption(option), value, text, line, draft_)) return;
    const auto setting = launcher.settings.find(option);
    if (setting == launcher.settings.end()) {
      if (launcher.silent.contains(option)) {
        const bool is_taken = option == "m" || option == "module";
        if (is_taken) return;
        return draft_.LeaveOut(absl::StrCat(name, option.size() == 1 ? " -" : " --", option),
                               "the worker sets rendezvous, ranks and output");
      }
      const bool can_stay = !launcher.command.empty() && Advice(option) == kNotUnderstood;
      if (can_stay) return Keep(launcher, text, line);
      return draft_.Note(line, absl::StrCat(text, Advice(option)));
    }
    // The ends of a range: torchrun --nnodes 2:8.
    const std::vector<std::string> ends = absl::StrSplit(value, ':');
    if (option == "nnodes" && ends.size() == 2 && WholeOf(ends[0]) && WholeOf(ends[1])) {
      return draft_.Set(kNodes, absl::StrCat(ends[0], "..", ends[1]));
    }
    if (!WholeOf(value).has_value()) {
      const bool is_key = absl::StrContains(setting->second, '.');
      return draft_.Note(line, absl::StrCat(text, ": the value is not in the script; set ",
                                            is_key ? setting->second : kSlots));
    }
    if (absl::StrContains(setting->second, '.')) {
      draft_.Set(setting->second, value);
    } else {
      counts_[setting->second] = *WholeOf(value);
    }
  }

  // Keeps the newest option, which has no setting, and with it the launcher.
  void Keep(const Launcher& launcher, const std::string& text, int line) {
    ScriptCommand& kept = launched_.launcher;
    if (kept.empty()) {
      for (const std::string& word : launcher.command) kept.push_back({word, line});
    }
    kept.insert(kept.end(), words_.begin() + static_cast<std::ptrdiff_t>(option_at_),
                words_.begin() + static_cast<std::ptrdiff_t>(at_));
    launched_.options.push_back(text);
  }

  void TakeGpus(const std::string& option, const std::string& value, const std::string& text,
                int line) {
    const std::optional<int64_t> gpus = GpusOnNode(option, value);
    if (gpus.has_value()) return draft_.Set(kSlots, absl::StrCat(*gpus));
    draft_.Note(line, absl::StrCat(text, ": not understood; set ", kSlots));
  }

  // Returns the long name of an option of srun that chooses nodes.
  static std::string LongNodeOption(const std::string& option) {
    if (option == "w") return "nodelist";
    if (option == "x") return "exclude";
    return option == "C" ? "constraint" : option;
  }

  static std::string Advice(const std::string& option) {
    if (absl::StartsWith(option, "container")) {
      return ": containers are not supported yet; the program runs directly on the node";
    }
    if (option == "hostfile" || option == "include" || option == "exclude") {
      return ": the controller chooses the nodes; set placement.nodes or placement.exclude to "
             "restrict its choice";
    }
    return kNotUnderstood;
  }

  // Converts the counts to numbers per node.
  void Finish() {
    draft_.At(0, "options of the launcher");
    if (const int64_t ranks = OnNode(kAllRanks); ranks > 0) draft_.Set(kSlots, absl::StrCat(ranks));
    launched_.tasks_on_node = counts_.contains(kNodeTasks) ? counts_[kNodeTasks] : OnNode(kTasks);
    const int64_t tasks = launched_.tasks_on_node, gpus = counts_[kTaskGpus];
    constexpr int64_t kMost = 100'000;
    if (0 < tasks && tasks <= kMost && 0 < gpus && gpus <= kMost) {
      draft_.Set(kSlots, absl::StrCat(tasks * gpus));
    } else if (tasks > 1) {
      draft_.Set(kSlots, absl::StrCat(tasks));
    }
    draft_.At(0, "");
  }

  // Divides a count for the whole gang by the number of nodes. Returns 0 if the count does not
  // divide evenly.
  int64_t OnNode(const char* count) {
    const int64_t all = counts_[count], nodes = draft_.Whole(kNodes).value_or(1);
    if (all <= 0) return 0;
    if (nodes > 0 && all % nodes == 0) return all / nodes;
    draft_.Note(words_.front().line, absl::StrCat(all, " ", count, " are not divisible by ", nodes,
                                                  " nodes; set ", kNodes, " and ", kSlots));
    return 0;
  }

  ScriptCommand Program() {
    ScriptCommand program(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    const int line = program.front().line;
    if (is_module_) program.insert(program.begin(), {{"python3", line}, {"-m", line}});
    if (!is_module_ && absl::EndsWith(program.front().text, ".py")) {
      program.insert(program.begin(), {"python3", line});
    }
    return program;
  }

  ScriptCommand words_;
  JobDraft& draft_;
  size_t at_ = 0;
  size_t option_at_ = 0;  // Position of the newest option of a launcher.
  std::map<std::string, int64_t> counts_;
  LaunchedProgram launched_;
  bool is_module_ = false;
  bool starts_program_ = true;
};

// Explains how to give a word its value. A command runs without a shell, so that nothing expands
// the word later.
std::string OpenWordAdvice(const ScriptWord& word) {
  const std::string& open = word.open;
  size_t begin = absl::StartsWith(open, "${") ? 2 : absl::StartsWith(open, "$") ? 1 : open.size();
  size_t end = begin;
  while (end < open.size() && IsShellNameByte(open[end])) ++end;
  const char* quote = absl::StrContains(open, '`') ? "\"" : "`";
  const std::string said =
      absl::StrCat(quote, open, quote, " in the command: its value is not in the script; ");
  if (end > begin) {
    return absl::StrCat(said, "pass --var ", open.substr(begin, end - begin), "=VALUE");
  }
  return absl::StrCat(said, "replace it with its value in the script");
}

// Returns the parser for the log format of the program; empty if none is known.
std::string LogParserOf(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (absl::StartsWith(word, "torchtitan.")) return "torchtitan";
    const std::string name = FileNameOf(word);
    const bool is_megatron = absl::StartsWith(name, "pretrain_") && absl::EndsWith(name, ".py");
    const bool is_neox = word == "--megatron_config" || absl::StrContains(word, "gpt-neox/");
    if (is_megatron || is_neox) return "megatron";
    // Scripts of Transformers, and programs that are built on its Trainer.
    static const std::set<std::string> kHuggingFace = {"run_clm.py", "run_mlm.py",
                                                       "axolotl.cli.train", "llamafactory-cli"};
    if (kHuggingFace.contains(name)) return "hugging_face";
    // OLMo names its configuration files after the model, OLMo-core its scripts.
    if (absl::StartsWith(name, "OLMo")) return "olmo";
  }
  return "";
}

}  // namespace

bool IsLaunchLine(const ScriptCommand& command) {
  if (command.empty()) return false;
  const std::string name = FileNameOf(command.front().text);
  static const std::set<std::string> launchers = {"srun", "torchrun", "deepspeed", "accelerate"};
  return launchers.contains(name) || OtherLaunchers().contains(name) || IsPythonRun(command);
}

bool IsPythonRun(const ScriptCommand& command) {
  if (command.empty()) return false;
  const std::string name = FileNameOf(command.front().text);
  if (absl::EndsWith(name, ".py")) return true;
  if (!IsPython(name) || command.size() < 2) return false;
  // `python -c TEXT` and `python -m pip` prepare something.
  static const std::set<std::string> tools = {"pip", "venv", "ensurepip", "virtualenv"};
  const bool is_tool =
      command[1].text == "-m" && command.size() > 2 && tools.contains(command[2].text);
  return !is_tool && command[1].text != "-c" && command[1].text != "-" &&
         command[1].text != "--version" && command[1].text != "setup.py";
}

ScriptCommand KeepLauncher(const LaunchedProgram& launched, JobDraft& draft) {
  if (launched.launcher.empty()) return launched.words;
  draft.At(launched.launcher.front().line, absl::StrJoin(launched.options, ", "));
  draft.Set(kProcessesPerNode, "1");
  draft.At(0, "");
  draft.Note(launched.launcher.front().line,
             absl::StrCat(absl::StrJoin(launched.options, ", "),
                          ": only the launcher knows this, so the worker starts the launcher once "
                          "per node (`launch`)"));
  ScriptCommand command = launched.launcher;
  ScriptCommand program = launched.words;
  const bool is_python = program.size() > 1 && program.front().text == "python3";
  const bool is_module = is_python && program[1].text == "-m";
  // The launcher itself runs Python.
  if (is_module) program[1].text = "--module";
  if (is_python) program.erase(program.begin());
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

LaunchedProgram TakeLauncher(const ScriptCommand& command, JobDraft& draft) {
  return LauncherReader(command, draft).Read();
}

void TakeProgram(const ScriptCommand& program, JobDraft& draft) {
  std::vector<std::string> words;
  for (const ScriptWord& word : program) {
    words.push_back(word.text);
    if (!word.open.empty()) draft.Refuse(word.line, OpenWordAdvice(word));
  }
  draft.At(program.front().line, "the command");
  draft.SetList("command", words);
  const std::string parser = LogParserOf(words);
  draft.At(program.front().line, "the program of the command");
  draft.Set("log_parser.kind", parser);
  draft.At(0, "");
  if (parser.empty()) {
    draft.Note(program.front().line,
               "no metrics are read from this program's output; to get metrics, set log_parser, or "
               "write telemetry (`trainyard explain log_parser`)");
  }
}

}  // namespace trainyard::cli
