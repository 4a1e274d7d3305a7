#include "cli/convert/batch_options.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/convert/batch_array.h"
#include "cli/convert/batch_dependency.h"
#include "cli/convert/batch_nodes.h"
#include "cli/convert/batch_time.h"
#include "cli/convert/shell/shell_script.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {
namespace {

constexpr char kDirective[] = "#SBATCH";

const std::map<std::string, std::string>& LongNames() {
  static const std::map<std::string, std::string> names = {
      {"N", "nodes"},     {"J", "job-name"}, {"t", "time"},          {"D", "chdir"},
      {"n", "ntasks"},    {"G", "gpus"},     {"c", "cpus-per-task"}, {"p", "partition"},
      {"A", "account"},   {"q", "qos"},      {"w", "nodelist"},      {"x", "exclude"},
      {"o", "output"},    {"e", "error"},    {"d", "dependency"},    {"a", "array"},
      {"C", "constraint"}};
  return names;
}

// Maps each option to advice about the job setting that replaces it.
const std::map<std::string, std::string>& Remarks() {
  static const std::map<std::string, std::string> remarks = {
      {"partition", "partitions are not supported; a job can use every node of the controller"},
      {"account", "accounts are not supported"},
      {"qos", "priorities are not supported"},
      {"container-image",
       "containers are not supported yet; the program runs directly on the node"},
      {"container-mounts", "containers are not supported yet; use the paths of the node"}};
  return remarks;
}

const std::set<std::string>& SilentOptions() {
  // Options that need no note. Some configure the output, which `trainyard logs` shows.
  static const std::set<std::string> options = {
      "output",     "error",    "mail-type",    "mail-user",        "exclusive", "no-requeue",
      "open-mode",  "export",   "comment",      "threads-per-core", "hint",      "switches",
      "overcommit", "gpu-bind", "distribution", "get-user-env",     "wckey",     "no-kill"};
  return options;
}

class BatchOptions {
 public:
  BatchOptions(JobDraft& draft, BatchHost& host) : draft_(draft), time_(draft), host_(host) {}

  void TakeLine(const std::string& text, int line) {
    const std::vector<std::string> words = ShellWordsOf(text);
    for (size_t at = 0; at < words.size(); ++at) {
      const std::string& word = words[at];
      if (!absl::StartsWith(word, "-")) continue;
      const bool is_next_value = at + 1 < words.size() && word.find('=') == std::string::npos &&
                                 !absl::StartsWith(words[at + 1], "-");
      TakeOption(word, is_next_value ? words[at + 1] : "", line);
    }
  }

  std::map<std::string, std::string> Finish() {
    draft_.At(0, "options of #SBATCH");
    SpreadOverNodes();
    host_.SetCounts(tasks_, gpus_);
    time_.Finish();
    if (gpus_ > 0) {
      draft_.Set("resources.slots_per_node", absl::StrCat(gpus_));
    } else if (tasks_ > 1) {
      draft_.Set("resources.slots_per_node", absl::StrCat(tasks_));
    }
    draft_.At(0, "");
    const std::string nodes = absl::StrCat(draft_.Whole("resources.nodes").value_or(1));
    std::map<std::string, std::string> variables = {{"SLURM_NNODES", nodes},
                                                    {"SLURM_JOB_NUM_NODES", nodes}};
    if (tasks_ > 0) variables["SLURM_NTASKS_PER_NODE"] = absl::StrCat(tasks_);
    if (gpus_ > 0) variables["SLURM_GPUS_ON_NODE"] = absl::StrCat(gpus_);
    if (gpus_ > 0) variables["SLURM_GPUS_PER_NODE"] = absl::StrCat(gpus_);
    return variables;
  }

 private:
  void TakeOption(const std::string& word, const std::string& next, int line) {
    std::string option = word.substr(absl::StartsWith(word, "--") ? 2 : 1);
    std::string value = next;
    if (const size_t equals = option.find('='); equals != std::string::npos) {
      value = option.substr(equals + 1);
      option.resize(equals);
    } else if (!absl::StartsWith(word, "--") && option.size() > 1) {
      value = option.substr(1);  // -N4
      option.resize(1);
    }
    if (const auto name = LongNames().find(option); name != LongNames().end()) {
      option = name->second;
    }
    Apply(option, value, line);
  }

  void Apply(const std::string& option, const std::string& value, int line) {
    draft_.At(line, absl::StrCat("#SBATCH --", option));
    const std::string text = absl::StrCat("#SBATCH --", option, value.empty() ? "" : "=", value);
    if (time_.Take(option, value, text, line)) return;
    if (host_.Take(option, value, text, line)) return;
    if (option == "nodes") return TakeNodes(value, text, line);
    if (option == "job-name") return draft_.Set("name", value);
    if (option == "chdir") return draft_.Set("working_directory", value);
    if (option == "gres" || option == "gpus-per-node") return TakeGpus(option, value, text, line);
    if (option == "dependency") return TakeBatchDependency(value, line, draft_);
    if (option == "array") return TakeBatchArray(value, line, draft_);
    if (TakeBatchNodes(option, value, text, line, draft_)) return;
    if (option == "ntasks-per-node") return TakeNumber(value, text, line, tasks_);
    if (option == "ntasks") return TakeNumber(value, text, line, all_tasks_);
    if (option == "gpus-per-task") return TakeNumber(value, text, line, task_gpus_);
    if (option == "gpus") {
      return TakeNumber(value.substr(value.rfind(':') + 1), text, line, all_gpus_);
    }
    if (const auto remark = Remarks().find(option); remark != Remarks().end()) {
      draft_.Note(line, absl::StrCat(text, ": ", remark->second));
    } else if (SilentOptions().contains(option)) {
      draft_.LeaveOut(absl::StrCat("--", option), "a job needs no such option of Slurm");
    } else {
      draft_.Note(line, absl::StrCat(text, ": not understood"));
    }
  }

  void TakeCount(const std::string& value, const std::string& text, const std::string& key,
                 int line) {
    if (WholeOf(value).has_value()) return draft_.Set(key, value);
    draft_.Note(line, absl::StrCat(text, ": is not a whole number; set ", key));
  }

  // A number of nodes, or the ends of a range: --nodes=2-8.
  void TakeNodes(const std::string& value, const std::string& text, int line) {
    const std::vector<std::string> ends = absl::StrSplit(value, '-');
    if (ends.size() == 2 && WholeOf(ends[0]) && WholeOf(ends[1])) {
      return draft_.Set("resources.nodes", absl::StrCat(ends[0], "..", ends[1]));
    }
    TakeCount(value, text, "resources.nodes", line);
  }

  void TakeNumber(const std::string& value, const std::string& text, int line, int64_t& number) {
    const int64_t count = WholeOf(value).value_or(0);
    constexpr int64_t kMost = 1'000'000;
    if (0 < count && count <= kMost) {
      number = count;
    } else {
      draft_.Note(line, absl::StrCat(text, ": not understood; set resources.slots_per_node"));
    }
  }

  void TakeGpus(const std::string& option, const std::string& value, const std::string& text,
                int line) {
    const std::optional<int64_t> count = GpusOnNode(option, value);
    if (!count.has_value()) {
      return draft_.Note(line,
                         absl::StrCat(text, ": not understood; set resources.slots_per_node"));
    }
    gpus_ = *count;
  }

  // Converts counts per job and per task to counts per node.
  void SpreadOverNodes() {
    const int64_t nodes = std::max<int64_t>(draft_.Whole("resources.nodes").value_or(1), 1);
    if (tasks_ == 0) tasks_ = OnNode(all_tasks_, nodes, "ntasks");
    if (gpus_ == 0) gpus_ = OnNode(all_gpus_, nodes, "gpus");
    if (gpus_ == 0) gpus_ = task_gpus_ * std::max<int64_t>(tasks_, 1);
  }

  int64_t OnNode(int64_t all, int64_t nodes, const std::string& option) {
    if (all % nodes == 0) return all / nodes;
    draft_.Note(0, absl::StrCat("#SBATCH --", option, "=", all, " is not divisible by ", nodes,
                                " nodes; set resources.nodes and resources.slots_per_node"));
    return 0;
  }

  JobDraft& draft_;
  BatchTime time_;
  BatchHost& host_;
  int64_t gpus_ = 0;  // Per node, like tasks_; 0: not given.
  int64_t tasks_ = 0;
  int64_t all_gpus_ = 0;  // For the whole job, like all_tasks_.
  int64_t all_tasks_ = 0;
  int64_t task_gpus_ = 0;  // Per task.
};

}  // namespace

std::optional<int64_t> GpusOnNode(const std::string& option, const std::string& value) {
  const std::vector<std::string> parts = absl::StrSplit(value, ':');
  const bool is_gpu = option != "gres" || parts.front() == "gpu";
  const std::optional<int64_t> count = WholeOf(parts.back());
  constexpr int64_t kMost = 1'000'000;
  if (!is_gpu || value.empty() || (!count.has_value() && parts.size() > 2)) return std::nullopt;
  if (count.has_value() && (*count < 1 || *count > kMost)) return std::nullopt;
  // Only `--gres=gpu` may lack a number; a missing number means one GPU.
  if (!count.has_value() && option != "gres") return std::nullopt;
  return count.value_or(1);
}

std::map<std::string, std::string> TakeBatchOptions(const std::string& text, JobDraft& draft,
                                                    BatchHost& host) {
  BatchOptions options(draft, host);
  int line = 0;
  for (const absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    if (!absl::StartsWith(row, kDirective)) continue;
    const absl::string_view rest = row.substr(sizeof(kDirective) - 1);
    options.TakeLine(std::string(absl::StripSuffix(rest, "\r")), line);
  }
  return options.Finish();
}

}  // namespace trainyard::cli
