#include "trainer/start/rank_setup.h"

#include "proto/rules/fp8_products.h"
#include "trainer/parallel/device/device.h"
#include "trainer/start/attention_choice.h"
#include "trainer/start/gang.h"
#include "trainer/start/memory_check.h"

namespace trainyard::trainer {
namespace {

torch::Device OpenSuitableDevice(const RunConfig& config, const RuntimeEnvironment& env) {
  const torch::Device device = OpenDevice(config.resources.device, env.local_rank);
  if (HasFp8(config.train)) CheckHasFp8(DeviceName(device), ComputeCapability(device));
  return device;
}

// There is no memory prediction for a run that only evaluates.
std::string MemoryWarning(const RunConfig& config) {
  if (config.evaluation.only) return "";
  return CheckMemory(config, CurrentDeviceMemory(config.resources.device));
}

}  // namespace

RankSetup::RankSetup(const RunConfig& settings, const RuntimeEnvironment& environment,
                     TelemetryWriter& telemetry_writer, RankProgress& rank_progress,
                     Interruption* from_outside)
    : env(environment),
      telemetry(telemetry_writer),
      progress(rank_progress),
      report(env.rank == 0),
      mesh(settings.layout),
      threads(SetThreads(settings, env)),
      device(OpenSuitableDevice(settings, env)),
      config(WithAttentionChosen(settings)),
      memory_warning(MemoryWarning(config)),
      interruption(from_outside == nullptr ? own_interruption : *from_outside),
      presence(device, &interruption),
      rendezvous(Meet(config, env, &interruption)),
      groups(ConnectGroups(config, mesh, env, rendezvous.get(), device)),
      stall_watch(groups, telemetry) {}

void RankSetup::CloseRendezvous() {
  if (rendezvous == nullptr) return;
  groups.world->Barrier();
  rendezvous.reset();
}

}  // namespace trainyard::trainer
