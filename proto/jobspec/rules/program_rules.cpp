#include "proto/jobspec/rules/program_rules.h"

#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/contract/environment.h"
#include "proto/contract/metric_factor.h"
#include "proto/files/normal_path.h"
#include "proto/jobspec/fields/after_entry.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/rules/failure_rule.h"
#include "proto/jobspec/rules/secret_rules.h"
#include "proto/support/job_kind.h"
#include "proto/text/variable_text.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

bool IsTorchrunVariable(const std::string& name) {
  return absl::c_linear_search(environment::kTorchrunVariables, name);
}

// True if the worker sets the variable for each rank of this job.
bool IsReservedVariable(const v1::JobSpec& spec, const std::string& name) {
  // An array may number its elements differently.
  if (name == environment::kArrayIndex) return false;
  return absl::StartsWith(name, environment::kReservedPrefix) ||
         (spec.torchrun_env() && IsTorchrunVariable(name)) || name == environment::kCudaDevices ||
         name == environment::kNvidiaDevices;
}

// Returns the reason why a reference such as `${HOME}` cannot be read; empty if there is none. The
// values are known only on the nodes.
std::string ReferenceProblem(const std::string& value) {
  return ExpandVariables(value, [](std::string_view) { return std::string(); }).problem;
}

void CheckSecrets(const v1::JobSpec& spec, Problems& problems) {
  std::set<std::string> seen;
  for (const std::string& name : spec.secrets()) {
    if (IsReservedVariable(spec, name)) {
      problems.push_back({"secrets", absl::StrCat("`secrets` contains ", name,
                                                  ", which the worker sets; remove it")});
    } else if (spec.env().contains(name)) {
      problems.push_back(
          {"secrets", absl::StrCat(name, " is in `secrets` and in `env`; keep one of them")});
    } else if (!seen.insert(name).second) {
      problems.push_back({"secrets", absl::StrCat("`secrets` contains ", name, " twice")});
    }
  }
}

void CheckUnsetVariables(const v1::JobSpec& spec, Problems& problems) {
  for (const std::string& name : spec.unset_env()) {
    if (IsReservedVariable(spec, name)) {
      const char* advice =
          IsTorchrunVariable(name)
              ? "; to remove all variables that torchrun would set, use `torchrun_env: false`"
              : ", because every rank needs it";
      problems.push_back({"unset_env", absl::StrCat("`env.", name, "` cannot be removed", advice)});
    } else if (spec.env().contains(name) || absl::c_linear_search(spec.secrets(), name)) {
      problems.push_back(
          {"unset_env", absl::StrCat(name,
                                     " is in `unset_env` and in `env` or `secrets`; keep "
                                     "one of them, or remove the variable with `env: {",
                                     name, ": null}`")});
    }
  }
}

void CheckTorchrunEnv(const v1::JobSpec& spec, Problems& problems) {
  const bool is_needed = ProgramRulesOf(spec).needs_torchrun_env;
  if (!is_needed || !spec.has_torchrun_env() || spec.torchrun_env()) return;
  problems.push_back(
      {"torchrun_env", absl::StrCat("`torchrun_env` is false, but ",
                                    RunsOurTrainer(spec) ? "trainyard-trainer" : "trainyard-data",
                                    " needs torchrun's variables to find its peers; remove "
                                    "`torchrun_env`")});
}

void CheckCheckpointPath(const char* key, const std::string& path, Problems& problems) {
  if (!IsKernelPath(path)) return;
  problems.push_back({key, absl::StrCat("`", key, "` is ", path,
                                        ", but files in /proc, /sys and /dev are not stored on a "
                                        "disk; use a directory on a disk")});
}

void CheckScale(const v1::LogParserSpec& parser, Problems& problems) {
  for (const std::string& entry : parser.scale()) {
    if (ParseMetricFactor(entry).has_value()) continue;
    problems.push_back(
        {"log_parser.scale", absl::StrCat("`log_parser.scale` contains \"", entry,
                                          "\"; write a metric and a number other than 0, such as "
                                          "step_seconds=0.001")});
  }
}

}  // namespace

void CheckCheckpointPaths(const v1::JobSpec& spec, Problems& problems) {
  CheckCheckpointPath("checkpoint.dir", spec.checkpoint().dir(), problems);
  CheckCheckpointPath("checkpoint.resume_from", spec.checkpoint().resume_from(), problems);
}

void CheckProgram(const v1::JobSpec& spec, Problems& problems) {
  static const RE2 kVariable("[A-Za-z_][A-Za-z0-9_]*");
  for (const auto& [name, value] : spec.env()) {
    const std::string key = absl::StrCat("env.", name);
    if (!RE2::FullMatch(name, kVariable)) {
      problems.push_back(
          {key, absl::StrCat("`", key, "` is not the name of an environment variable")});
    } else if (IsReservedVariable(spec, name)) {
      problems.push_back({key, absl::StrCat("`", key, "` is set by the worker; remove it")});
    } else if (absl::StrContains(value, '\0')) {
      problems.push_back({key, absl::StrCat("`", key, "` contains a NUL byte")});
    } else if (const std::string problem = ReferenceProblem(value); !problem.empty()) {
      problems.push_back({key, absl::StrCat("`", key, "`: ", problem)});
    } else if (LooksSecret(name, value)) {
      problems.push_back({key, absl::StrCat("`", key,
                                            "` looks like a secret, but `env` is stored and shown "
                                            "in plain text; write `secrets: [",
                                            name,
                                            "]` and put its value into a file of that "
                                            "name in the secrets directory of each node")});
    }
  }
  CheckSecrets(spec, problems);
  CheckUnsetVariables(spec, problems);
  CheckTorchrunEnv(spec, problems);
  for (const std::string& argument : spec.command()) {
    if (absl::StrContains(argument, '\0')) {
      problems.push_back({"command", "`command` contains a NUL byte"});
    } else if (HoldsSecret(argument)) {
      problems.push_back(
          {"command",
           "a word of `command` looks like a secret, but `command` is stored and shown in plain "
           "text; list a variable in `secrets`, and let the program read the secret from that "
           "variable"});
    }
  }
  if (ProgramOf(spec) == JobProgram::kCommand && spec.command(0).empty()) {
    problems.push_back({"command", "`command` begins with an empty word; name a program"});
  }
}

void CheckLogParser(const v1::JobSpec& spec, Problems& problems) {
  const v1::LogParserSpec& parser = spec.log_parser();
  const int ranks =
      IsElastic(spec) ? spec.min_nodes() * spec.resources().slots_per_node() : WorldSize(spec);
  if (parser.rank() >= ranks) {
    problems.push_back(
        {"log_parser.rank", absl::StrCat("`log_parser.rank` is ", parser.rank(),
                                         ", but the last rank of the job is ", ranks - 1)});
  }
  CheckScale(parser, problems);
  if (parser.kind() != v1::LOG_PARSER_KIND_REGEX) return;
  if (!parser.has_pattern()) {
    problems.push_back(
        {"log_parser.pattern",
         "`log_parser.pattern` is missing; `log_parser.kind` regex needs a pattern"});
    return;
  }
  const RE2 pattern(parser.pattern(), RE2::Quiet);
  if (!pattern.ok()) {
    problems.push_back({"log_parser.pattern",
                        absl::StrCat("`log_parser.pattern` is not valid: ", pattern.error())});
  } else if (!pattern.NamedCapturingGroups().contains("step")) {
    problems.push_back(
        {"log_parser.pattern", "`log_parser.pattern` needs a named group (?P<step>...)"});
  }
}

void CheckGuard(const v1::JobSpec& spec, Problems& problems) {
  const v1::GuardSpec& guard = spec.guard();
  if (guard.min_points() > guard.window()) {
    problems.push_back(
        {"guard.min_points", absl::StrCat("`guard.min_points` is ", guard.min_points(),
                                          ", but the window holds at most `guard.window` (",
                                          guard.window(), ") points; lower `guard.min_points`")});
  }
  if (0 < guard.spike_ratio() && guard.spike_ratio() <= 1) {
    problems.push_back(
        {"guard.spike_ratio",
         absl::StrCat(
             "`guard.spike_ratio` is ", guard.spike_ratio(),
             ", which makes every loss a spike; set it above 1, or to 0 to disable the test")});
  }
}

// Checks that a job with spares can heal. A heal copies the state of the gang from a surviving
// node, so the gang needs at least two nodes.
void CheckSpares(const v1::JobSpec& spec, Problems& problems) {
  if (spec.restart().spares() == 0) return;
  const auto refuse = [&](const std::string& why) {
    problems.push_back({"restart.spares", absl::StrCat("`restart.spares` is ",
                                                       spec.restart().spares(), ", but ", why)});
  };
  if (!RunsOurTrainer(spec)) {
    refuse("only trainyard-trainer can use spares; set `restart.spares` to 0");
  } else if (spec.auto_layout()) {
    refuse(
        "with `layout: auto`, a job that loses nodes continues on fewer nodes instead of healing; "
        "set the layout explicitly, or remove the spares");
  } else if (IsElastic(spec)) {
    refuse(
        "a job with a range of nodes continues on fewer nodes instead of healing; set "
        "resources.nodes to one number, or remove the spares");
  } else if (spec.evaluation().only()) {
    refuse("an evaluation does not heal in place; remove the spares");
  } else if (spec.resources().nodes() < 2) {
    refuse(
        "a gang of one node has no surviving ranks when the node is lost; set resources.nodes to 2 "
        "or more");
  }
}

void CheckProcesses(const v1::JobSpec& spec, Problems& problems) {
  if (!spec.launch().has_processes_per_node()) return;
  const int processes = spec.launch().processes_per_node();
  const int slots = spec.resources().slots_per_node();
  const auto refuse = [&](const std::string& why) {
    problems.push_back({"launch.processes_per_node",
                        absl::StrCat("`launch.processes_per_node` is ", processes, ", but ", why)});
  };
  if (ProgramOf(spec) != JobProgram::kCommand) {
    refuse(absl::StrCat("this job ", ProgramRulesOf(spec).text,
                        ", which needs one process per slot; remove `launch`"));
  } else if (processes < 1 || slots % processes != 0) {
    std::vector<int> divisors;
    for (int i = 1; i <= slots; ++i) {
      if (slots % i == 0) divisors.push_back(i);
    }
    refuse(absl::StrCat("it must divide `resources.slots_per_node` (", slots, "); use ",
                        divisors.size() > 1 ? "one of " : "", absl::StrJoin(divisors, ", ")));
  }
}

void CheckAfter(const v1::JobSpec& spec, Problems& problems) {
  for (const std::string& text : spec.after()) {
    const auto entry = ParseAfterEntry(text);
    if (!entry.ok()) {
      problems.push_back({"after", absl::StrCat("`after` contains \"", text,
                                                "\": ", std::string(entry.status().message()))});
    } else if (entry->job == spec.name()) {
      problems.push_back(
          {"after",
           absl::StrCat("`after` contains ", text,
                        ", which names this job, and a job cannot wait for itself; to wait for an "
                        "earlier job of this name, write its number")});
    }
  }
}

void CheckFailureRules(const v1::JobSpec& spec, Problems& problems) {
  for (const std::string& rule : spec.restart().rules()) {
    const auto parsed = ParseFailureRule(rule);
    if (parsed.ok()) continue;
    problems.push_back({"restart.rules", absl::StrCat("`restart.rules` contains \"", rule, "\": ",
                                                      std::string(parsed.status().message()))});
  }
}

}  // namespace trainyard
