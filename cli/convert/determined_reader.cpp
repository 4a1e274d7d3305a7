// Reads the experiment files of Determined. An experiment runs the user's own program on a number
// of slots.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/convert/config_readers.h"
#include "cli/convert/environment_reader.h"
#include "cli/convert/script_reader.h"
#include "cli/convert/translation.h"

namespace trainyard::cli {
namespace {

constexpr char kNoContainer[] =
    "containers are not supported yet; the program runs directly on the node";

Translations DeterminedStorage() {
  return {{"checkpoint_storage.type", Word("", {{"shared_fs", ""}, {"directory", ""}})},
          {"checkpoint_storage.host_path", Silent()},
          {"checkpoint_storage.storage_path", Silent()},
          {"checkpoint_storage.container_path", Silent()},
          {"checkpoint_storage.save_trial_latest", Whole("checkpoint.keep_last")},
          {"checkpoint_storage.save_trial_best", Whole("checkpoint.keep_best")},
          {"checkpoint_storage.*",
           NoteOnly("checkpoints are stored in a directory shared by all nodes; set "
                    "checkpoint.dir")}};
}

Translations DeterminedEnvironment() {
  return {{"environment.image", NoteOnly(kNoContainer)},
          {"environment.image.*", NoteOnly(kNoContainer)},
          {"environment.force_pull_image", Silent()},
          // TakesVariables handles this key, because the variables must be selected for the job's
          // kind of slot.
          {"environment.environment_variables[]", Silent()},
          {"environment.environment_variables.cuda[]", Silent()},
          {"environment.environment_variables.gpu[]", Silent()},
          {"environment.environment_variables.cpu[]", Silent()},
          {"environment.environment_variables.rocm[]",
           NoteOnly("only NVIDIA GPUs and CPUs are supported")},
          {"environment.*", NoteOnly("not understood")}};
}

const Translations& DeterminedTable() {
  static const Translations table = [] {
    Translations all = {
        {"name", Text("name")},
        {"description", Text("description")},
        {"entrypoint", Silent()},
        {"entrypoint[]", Silent()},
        {"max_restarts", Whole("restart.max_restarts")},
        {"resources.slots_per_trial", Whole("")},
        {"resources.resource_pool",
         NoteOnly("resource pools are not supported; a job can use every node of the controller")},
        {"resources.priority", NoteOnly("priorities are not supported")},
        {"resources.weight", NoteOnly("fair-share weights are not supported")},
        {"resources.max_slots", NoteOnly("a job always uses exactly the slots that it requests")},
        {"resources.shm_size", Silent()},
        {"resources.agent_label", NoteOnly("node features are not supported")},
        {"resources.is_single_node", Silent()},
        {"searcher.name", Word("", {{"single", ""}})},
        {"searcher.max_length", Silent()},
        {"searcher.max_length.*",
         NoteOnly(
             "the program decides when to end; train.steps applies only to trainyard-trainer")},
        {"searcher.metric", Silent()},
        {"searcher.smaller_is_better", Silent()},
        {"searcher.source_trial_id", NoteOnly("Determined checkpoints are not supported; pass the "
                                              "path of another checkpoint in `command`")},
        {"searcher.*", NoteOnly("searches are not supported; submit one job file per trial")},
        {"hyperparameters.*",
         NoteOnly("the program got this value from Determined's library; pass the value in "
                  "`command` or as an environment variable (env)")},
        {"bind_mounts.*", Silent()},
        {"bind_mounts[]", Silent()},
        {"min_validation_period.*", NoteOnly("the program decides when to evaluate")},
        {"min_checkpoint_period.*", NoteOnly("the program decides when to save")},
        {"records_per_epoch", Silent()},
        {"scheduling_unit", Silent()},
        {"labels[]", Silent()},
        {"workspace", NoteOnly("workspaces are not supported")},
        {"project", NoteOnly("projects are not supported")},
        {"profiling.*", Silent()},
        {"debug", Silent()},
        {"reproducibility.experiment_seed", Silent()},
        {"tensorboard_storage.*", Silent()},
        {"data.*",
         NoteOnly(
             "the program got this value from Determined's library; pass the value in `command`")}};
    all.merge(DeterminedEnvironment());
    all.merge(DeterminedStorage());
    return all;
  }();
  return table;
}

class DeterminedReader {
 public:
  DeterminedReader(const SourceTree& tree, JobDraft& draft) : tree_(tree), draft_(draft) {}

  absl::Status Read() {
    ReadSlots();
    ReadVariables();
    ReadMounts();
    ReadStorage();
    return ReadCommand();
  }

 private:
  // If a trial needs more than 8 slots, Determined spreads the trial over agents of 8 slots each.
  void ReadSlots() {
    constexpr int64_t kUsualNode = 8;
    const int64_t slots = tree_.Whole("resources.slots_per_trial", 1);
    const int line = tree_.Line("resources.slots_per_trial");
    if (slots == 0) {
      is_cpu_ = true;
      draft_.Set("resources.device", "cpu");
      return draft_.Set("resources.slots_per_node", "1");
    }
    if (slots <= kUsualNode) return draft_.Set("resources.slots_per_node", absl::StrCat(slots));
    if (slots % kUsualNode == 0) {
      draft_.Set("resources.nodes", absl::StrCat(slots / kUsualNode));
      draft_.Set("resources.slots_per_node", absl::StrCat(kUsualNode));
      return draft_.Note(
          line, absl::StrCat("resources.slots_per_trial: ", slots,
                             ": converted to nodes of 8 slots; for nodes of another size, set "
                             "resources.nodes and resources.slots_per_node"));
    }
    draft_.Note(line, absl::StrCat("resources.slots_per_trial: ", slots,
                                   ": is not a multiple of 8; set resources.nodes and "
                                   "resources.slots_per_node"));
  }

  // Reads a list of NAME=value, or one list of NAME=value per device type. `gpu` is the older name
  // of the device type `cuda`.
  bool TakesVariables(const SourceValue& value) {
    const std::string root = "environment.environment_variables";
    const bool is_for_gpus = value.path == root + ".cuda[]" || value.path == root + ".gpu[]";
    const bool is_for_cpus = value.path == root + ".cpu[]";
    if (value.path == root + "[]") return true;
    if (!is_for_gpus && !is_for_cpus) return false;
    if (is_for_cpus == is_cpu_) return true;
    draft_.Note(value.line,
                absl::StrCat(value.path, ": ", value.text, ": is for ", is_for_cpus ? "CPU" : "GPU",
                             " slots, but the job has none"));
    return false;
  }

  void ReadVariables() {
    for (const SourceValue& value : tree_.values()) {
      if (!TakesVariables(value)) continue;
      tree_.MarkRead(value.path);
      const size_t equals = value.text.find('=');
      if (equals == std::string::npos || equals == 0) {
        draft_.Note(
            value.line,
            absl::StrCat(value.path, ": ", value.text,
                         ": the value comes from the submitter's shell; set env.", value.text));
        continue;
      }
      TakeEnvironment({value.text.substr(0, equals), value.text.substr(equals + 1), "", value.line},
                      draft_);
    }
  }

  void ReadMounts() {
    const std::vector<SourceValue> hosts = tree_.FindAll("bind_mounts[].host_path");
    const std::vector<SourceValue> inside = tree_.FindAll("bind_mounts[].container_path");
    for (size_t i = 0; i < hosts.size() && i < inside.size(); ++i) {
      if (hosts[i].text == inside[i].text) continue;
      draft_.Note(
          hosts[i].line,
          absl::StrCat("bind_mounts: the container's path ", inside[i].text, " is ", hosts[i].text,
                       " on the node. Containers are not supported yet; use the node's "
                       "path in the program"));
    }
  }

  void ReadStorage() {
    const std::string host = tree_.Text("checkpoint_storage.host_path");
    const std::string below = tree_.Text("checkpoint_storage.storage_path");
    if (host.empty()) return;
    draft_.Set("checkpoint.dir", below.empty() ? host : absl::StrCat(host, "/", below));
    draft_.Note(tree_.Line("checkpoint_storage.host_path"),
                "checkpoint_storage: the program must read the directory from the environment "
                "variable TRAINYARD_CHECKPOINT_DIR");
  }

  // The entrypoint is either a shell command line or a list of words.
  absl::Status ReadCommand() {
    ShellScript script;
    for (const SourceValue& word : tree_.FindAll("entrypoint[]")) {
      if (script.commands.empty()) script.commands.emplace_back();
      script.commands.front().push_back({word.text, word.line});
    }
    if (script.commands.empty()) {
      absl::StatusOr<ShellScript> split = EvaluateScript(tree_.Text("entrypoint"));
      if (!split.ok()) return split.status();
      script = *std::move(split);
      PutOnOneLine(script, std::max(tree_.Line("entrypoint"), 1));
    }
    const bool is_trial = script.commands.size() == 1 && script.commands.front().size() == 1 &&
                          absl::StrContains(script.commands.front().front().text, ':');
    if (script.commands.empty() || is_trial) {
      draft_.Note(std::max(tree_.Line("entrypoint"), 1),
                  absl::StrCat("entrypoint: ", tree_.Text("entrypoint"),
                               ": a trial class needs Determined's harness, which a job does not "
                               "have; set `command` to a program that runs without the harness"));
      return absl::OkStatus();
    }
    ReadEntrypoint(script, /*keeps_command=*/true, draft_);
    return absl::OkStatus();
  }

  // Gives all commands the same line number, because folded YAML text loses the original line ends.
  static void PutOnOneLine(ShellScript& script, int line) {
    for (ScriptVariable& variable : script.exports) variable.line = line;
    for (ScriptCommand& command : script.commands) {
      for (ScriptWord& word : command) word.line = line;
    }
    for (ScriptNote& note : script.notes) note.line = line;
  }

  const SourceTree& tree_;
  JobDraft& draft_;
  bool is_cpu_ = false;
};

absl::Status ReadDetermined(const SourceTree& tree, JobDraft& draft) {
  return DeterminedReader(tree, draft).Read();
}

}  // namespace

ConfigReader DeterminedFormat() { return {SameTree, DeterminedTable, ReadDetermined}; }

}  // namespace trainyard::cli
