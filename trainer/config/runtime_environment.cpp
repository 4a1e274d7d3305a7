#include "trainer/config/runtime_environment.h"

#include <charconv>
#include <cstdlib>

#include "proto/contract/environment.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

int64_t Number(const VariableLookup& lookup, const std::string& name, int64_t fallback,
               int64_t min) {
  const std::optional<std::string> text = lookup(name);
  if (!text || text->empty()) return fallback;
  int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value < min) {
    throw TrainerError(ExitCode::kBadConfig, "Environment variable " + name +
                                                 " must be a whole number of at least " +
                                                 std::to_string(min) + " (it is `" + *text + "`).");
  }
  return value;
}

double Factor(const VariableLookup& lookup, const std::string& name) {
  const std::optional<std::string> text = lookup(name);
  if (!text || text->empty()) return 1;
  double value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || !(value > 0) || value > 1) {
    throw TrainerError(ExitCode::kBadConfig,
                       "Environment variable " + name +
                           " must be a number above 0 and at most 1 (it is `" + *text + "`).");
  }
  return value;
}

std::string Text(const VariableLookup& lookup, const std::string& name, std::string fallback) {
  std::optional<std::string> text = lookup(name);
  return text && !text->empty() ? *std::move(text) : fallback;
}

void RequireBelow(const char* name, int64_t value, const char* limit_name, int64_t limit) {
  if (value < limit) return;
  throw TrainerError(ExitCode::kBadConfig, std::string("Environment variable ") + name + " is " +
                                               std::to_string(value) + "; it must be below " +
                                               limit_name + " = " + std::to_string(limit) + ".");
}

}  // namespace

RuntimeEnvironment ReadRuntimeEnvironment(const VariableLookup& lookup) {
  RuntimeEnvironment env;
  env.world_size = Number(lookup, environment::kWorldSize, 1, 1);
  env.rank = Number(lookup, environment::kRank, 0, 0);
  env.local_world_size = Number(lookup, environment::kLocalWorldSize, 1, 1);
  env.local_rank = Number(lookup, environment::kLocalRank, 0, 0);
  RequireBelow(environment::kRank, env.rank, environment::kWorldSize, env.world_size);
  RequireBelow(environment::kLocalRank, env.local_rank, environment::kLocalWorldSize,
               env.local_world_size);
  env.master_addr = Text(lookup, environment::kMasterAddress, env.master_addr);
  env.master_port = Number(lookup, environment::kMasterPort, env.master_port, 1);
  RequireBelow(environment::kMasterPort, env.master_port, "the end of the port range", 65536);
  env.job_id = Number(lookup, environment::kJobId, 0, 0);
  env.attempt = Number(lookup, environment::kAttempt, 1, 1);
  env.run_dir = Text(lookup, environment::kRunDir, ".");
  env.spec_path = Text(lookup, environment::kSpec, "");
  env.telemetry_path = Text(lookup, environment::kTelemetry, env.run_dir + "/telemetry.jsonl");
  env.checkpoint_dir = Text(lookup, environment::kCheckpointDir, "");
  env.resume_from = Text(lookup, environment::kResumeFrom, "");
  env.skip_samples = Text(lookup, environment::kSkipSamples, "");
  env.lr_factor = Factor(lookup, environment::kLrFactor);
  env.rolled_back = Text(lookup, environment::kRolledBack, "");
  env.live_jobs = Text(lookup, environment::kLiveJobs, "");
  env.heal_path = Text(lookup, environment::kHeal, "");
  env.heal_wait_seconds = Number(lookup, environment::kHealWait, env.heal_wait_seconds, 1);
  env.is_standby = Number(lookup, environment::kStandby, 0, 0) > 0;
  if (env.is_standby && env.heal_path.empty()) {
    throw TrainerError(ExitCode::kBadConfig, std::string("A spare rank (") + environment::kStandby +
                                                 ") requires " + environment::kHeal +
                                                 ", the path of the file with its heal order.");
  }
  return env;
}

std::optional<std::string> ProcessVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace trainyard::trainer
