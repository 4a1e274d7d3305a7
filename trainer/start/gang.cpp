#include "trainer/start/gang.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "proto/contract/environment.h"
#include "proto/memory/memory_model.h"
#include "proto/model/model_size.h"
#include "trainer/config/run_config_json.h"
#include "trainer/parallel/device/device.h"
#include "trainer/parallel/rank_agreement.h"
#include "trainer/start/start_check.h"

namespace trainyard::trainer {
namespace {

// The ranks of a gang usually start within seconds of each other, but a slow file system may delay
// a rank by minutes.
constexpr std::chrono::seconds kRendezvousTimeout{300};

// Returns all settings and versions that affect the results of a run or the order of its
// collectives.
RankFacts FactsOf(const RunConfig& config, const RuntimeEnvironment& env) {
  RankFacts facts = {{"job", std::to_string(env.job_id)},
                     {"attempt", std::to_string(env.attempt)},
                     {"the checkpoint to start from", env.resume_from},
                     {environment::kSkipSamples, env.skip_samples},
                     {environment::kLrFactor, std::to_string(env.lr_factor)},
                     {environment::kRolledBack, env.rolled_back},
                     {"trainyard-trainer", TRAINYARD_VERSION},
                     {"LibTorch", TORCH_VERSION},
                     {"the communication library", CommunicationLibrary()}};
  const nlohmann::json settings = RunConfigToJson(config).flatten();
  for (const auto& [key, value] : settings.items()) {
    std::string name = key.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    facts[name] = value.dump();
  }
  return facts;
}

bool KeepsSnapshots(const RunConfig& config, const RuntimeEnvironment& env) {
  return !env.heal_path.empty() && !config.evaluation.only;
}

}  // namespace

int64_t SetThreads(const RunConfig& config, const RuntimeEnvironment& env) {
  const auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
  const int64_t threads = config.train.threads > 0
                              ? config.train.threads
                              : std::max<int64_t>(cores / env.local_world_size, 1);
  at::set_num_threads(static_cast<int>(threads));
  return threads;
}

std::unique_ptr<Rendezvous> Meet(const RunConfig& config, const RuntimeEnvironment& env,
                                 Interruption* interruption) {
  if (env.world_size == 1) return nullptr;
  const auto timeout =
      env.generation == 1 ? kRendezvousTimeout : std::chrono::seconds(env.heal_wait_seconds);
  auto rendezvous = std::make_unique<Rendezvous>(env, timeout, interruption);
  CheckRanksAgree(*rendezvous, env.rank, env.world_size, FactsOf(config, env));
  return rendezvous;
}

RankGroups ConnectGroups(const RunConfig& config, const Mesh& mesh, const RuntimeEnvironment& env,
                         Rendezvous* rendezvous, torch::Device device) {
  const auto connect = [&](CommunicatorGroup group) {
    group.limits.operation = std::chrono::seconds(config.train.distributed_timeout_s);
    return ConnectGroup(rendezvous, group, device);
  };
  // A process of a later generation checked its device at its own start.
  if (env.generation == 1) CheckDevice(device);
  const GroupedParts parts{.has_tied_embedding = HasTableAtBothEnds(config.model),
                           .has_experts = HasExperts(config.model),
                           .keeps_snapshots = KeepsSnapshots(config, env),
                           .tensor_bytes = ExchangeSlotBytes(config),
                           .context_bytes = ContextSlotBytes(config)};
  RankGroups groups = ConnectRankGroups(mesh, env.rank, config.layout, parts, connect);
  CheckGroups(groups, device, rendezvous == nullptr ? nullptr : rendezvous->interruption());
  return groups;
}

}  // namespace trainyard::trainer
