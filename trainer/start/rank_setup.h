// Sets up a rank before it builds a model.
#ifndef TRAINYARD_TRAINER_START_RANK_SETUP_H_
#define TRAINYARD_TRAINER_START_RANK_SETUP_H_

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "proto/contract/run_config.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/parallel/interruption/interruption.h"
#include "trainer/parallel/interruption/presence.h"
#include "trainer/parallel/mesh.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/parallel/rendezvous.h"
#include "trainer/report/run_report.h"
#include "trainer/report/stall_watch.h"
#include "trainer/telemetry/rank_progress.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// The settings, device, telemetry and connections of one rank, for training and for evaluation. The
// other parts of a run keep references to this setup.
struct RankSetup {
  // Opens the device, predicts the memory of a training run, and connects the ranks. `settings`
  // must be resolved (ResolveRunConfig). `telemetry_writer`, `rank_progress` and `from_outside`
  // must outlive this object. `from_outside` can interrupt the rank from another thread; it may be
  // null. Throws TrainerError.
  RankSetup(const RunConfig& settings, const RuntimeEnvironment& environment,
            TelemetryWriter& telemetry_writer, RankProgress& rank_progress,
            Interruption* from_outside = nullptr);
  RankSetup(const RankSetup&) = delete;
  RankSetup& operator=(const RankSetup&) = delete;

  // Closes the store through which the ranks connected, because the groups no longer use it. From
  // then on, the death of rank 0's process is handled like the loss of any other rank. All ranks
  // must call CloseRendezvous.
  void CloseRendezvous();

  // Aborts all groups that were connected through `rendezvous`, even if it is closed.
  void AbortGroups() { interruption.Interrupt(); }

  const RuntimeEnvironment env;
  TelemetryWriter& telemetry;
  RankProgress& progress;
  RunReport report;
  const Mesh mesh;
  const int64_t threads;
  const torch::Device device;
  const RunConfig config;            // Its attention backend is resolved for this device.
  const std::string memory_warning;  // Empty if memory is sufficient.
  Interruption own_interruption;     // Not used if there is one from outside.
  Interruption& interruption;
  const Presence presence;
  std::unique_ptr<Rendezvous> rendezvous;  // Null for a single rank and after CloseRendezvous.
  const std::chrono::steady_clock::time_point met_at = std::chrono::steady_clock::now();
  const RankGroups groups;
  StallWatch stall_watch;
  const std::chrono::steady_clock::time_point connected_at = std::chrono::steady_clock::now();
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_RANK_SETUP_H_
