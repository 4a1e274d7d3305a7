#include "proto/jobspec/rules.h"

#include "absl/strings/str_cat.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/jobspec/matrix_rules.h"
#include "proto/jobspec/rules/code_rules.h"
#include "proto/jobspec/rules/data_jobs.h"
#include "proto/jobspec/rules/elastic_size.h"
#include "proto/jobspec/rules/environment_rules.h"
#include "proto/jobspec/rules/field_rules.h"
#include "proto/jobspec/rules/placement_rules.h"
#include "proto/jobspec/rules/program_rules.h"
#include "proto/jobspec/rules/time_limit_rules.h"
#include "proto/jobspec/rules/watch_rules.h"
#include "proto/rules/run_rules.h"
#include "proto/support/job_kind.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

void Append(Problems more, Problems& problems) {
  for (SettingProblem& problem : more) problems.push_back(std::move(problem));
}

std::vector<std::string> Lines(const Problems& problems, const Origins& origins) {
  std::vector<std::string> lines;
  for (const SettingProblem& problem : problems) lines.push_back(Describe(problem, origins));
  return lines;
}

// True if the spec has neither a model nor a training length. Such a spec is more likely a user's
// own program without its command than a run of the trainer without all its settings.
bool DescribesNoRun(const RunConfig& config) {
  return config.model.num_layers == 0 && config.model.hidden_size == 0 && config.train.steps == 0 &&
         config.train.samples == 0 && config.train.tokens == 0;
}

// True if the name consists of digits. Commands such as `trainyard kill 3` interpret such a name as
// a job id.
bool IsNumber(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

// If the layout is still to be chosen, assumes a layout with as many ranks as the gang.
RunConfig WithRanksOf(const v1::JobSpec& spec, RunConfig config) {
  if (spec.auto_layout()) config.layout.dp = WorldSize(spec);
  return config;
}

constexpr char kNoCommand[] =
    "`command` is missing; name a program (`command: [python3, train.py]`), or describe a run of "
    "trainyard-trainer with `model`, `data` and `train` (for example with `extends: "
    "llama-tiny-cpu`)";

// `config`: RunConfigOf(spec).
Problems FindProblemsOf(const v1::JobSpec& spec, const RunConfig& config) {
  Problems problems;
  const bool ours = RunsOurTrainer(spec);
  if (!spec.has_name()) problems.push_back({"name", "`name` is missing"});
  if (IsNumber(spec.name())) {
    problems.push_back({"name", absl::StrCat("name: `", spec.name(),
                                             "` consists of digits only and would be read as a "
                                             "job number; add a letter, such as `run-",
                                             spec.name(), "`")});
  }
  if (ours && DescribesNoRun(config)) {
    problems.push_back({"command", kNoCommand});
  } else if (ours) {
    Append(FindMissing(config), problems);
  }
  CheckDataJob(spec, problems);
  CheckFields(spec, problems);
  CheckCheckpointPaths(spec, problems);
  // Return here: rules that span several fields would only repeat these errors.
  if (!problems.empty()) return problems;
  Append(FindElasticProblems(spec), problems);
  if (!problems.empty()) return problems;
  Append(FindAutoLayoutProblems(spec), problems);
  if (ProgramRulesOf(spec).has_layout) {
    Append(FindLayoutProblems(WorldSize(spec), WithRanksOf(spec, config)), problems);
  }
  CheckAfter(spec, problems);
  CheckProgram(spec, problems);
  CheckLogParser(spec, problems);
  CheckWatch(spec, problems);
  CheckGuard(spec, problems);
  CheckFailureRules(spec, problems);
  CheckSpares(spec, problems);
  CheckProcesses(spec, problems);
  CheckTimeLimit(spec, problems);
  CheckPlacement(spec, problems);
  CheckEnvironment(spec, problems);
  CheckCode(spec, problems);
  CheckNotArray(spec, problems);
  if (ours) Append(FindTrainingProblems(config), problems);
  return problems;
}

}  // namespace

Problems FindProblems(const v1::JobSpec& spec, const Origins& origins) {
  const auto check = [](const v1::JobSpec& one) { return FindProblemsOf(one, RunConfigOf(one)); };
  return IsArray(spec) ? FindArrayProblems(spec, origins, check) : check(spec);
}

std::string Describe(const SettingProblem& problem, const Origins& origins) {
  const auto origin = origins.find(problem.key);
  const bool has_origin =
      origin != origins.end() && origin->second != kDerivedOrigin && !origin->second.empty();
  return has_origin ? absl::StrCat(origin->second, ": ", problem.message) : problem.message;
}

std::vector<std::string> CheckJobSpec(const v1::JobSpec& spec, const Origins& origins) {
  return Lines(FindProblems(spec, origins), origins);
}

std::vector<std::string> CheckSubmission(const v1::JobSpec& spec, const Origins& origins) {
  const auto check = [](const v1::JobSpec& one) {
    const RunConfig config = RunConfigOf(one);
    Problems problems = FindProblemsOf(one, config);
    if (problems.empty() && RunsOurTrainer(one)) problems = FindLaunchProblems(config);
    return problems;
  };
  return Lines(IsArray(spec) ? FindArrayProblems(spec, origins, check) : check(spec), origins);
}

std::vector<std::string> CheckLaunch(const v1::JobSpec& spec, const Origins& origins) {
  if (IsArray(spec) || !RunsOurTrainer(spec)) return {};
  return Lines(FindLaunchProblems(RunConfigOf(spec)), origins);
}

}  // namespace trainyard
