#include "tests/simulation/simulation_options.h"

#include "tests/simulation/world/random.h"

namespace trainyard::simulation {

SimulationOptions ControlPlaneFaults(uint64_t seed) {
  Random random(seed ^ 0xc0ffee);
  SimulationOptions options;
  options.seed = seed;
  options.world.all_ranks_write = random.Chance(0.5);
  options.faults.network = {random.Chance(0.5) ? 0.02 : 0.002, random.Between(20, 3000)};
  options.faults.partition = random.Chance(0.7) ? 0.1 : 0;
  options.faults.worker_crash = random.Chance(0.7) ? 0.1 : 0;
  options.faults.controller_crash = random.Chance(0.7) ? 0.1 : 0;
  options.faults.controller_freeze = random.Chance(0.3) ? 0.03 : 0;
  options.faults.worker_freeze = random.Chance(0.3) ? 0.05 : 0;
  options.faults.controller_disk_full = random.Chance(0.3) ? 0.03 : 0;
  options.faults.worker_disk_full = random.Chance(0.3) ? 0.05 : 0;
  options.faults.store_stall = random.Chance(0.3) ? 0.05 : 0;
  options.faults.foreign_stream = random.Chance(0.3) ? 0.1 : 0;
  options.faults.user_cordon = random.Chance(0.3) ? 0.05 : 0;
  options.faults.slow_device = random.Chance(0.3) ? 0.05 : 0;
  options.faults.node_clock_step = random.Chance(0.3) ? 0.05 : 0;
  options.faults.user_drain = random.Chance(0.3) ? 0.05 : 0;
  return options;
}

SimulationOptions AllFaults(uint64_t seed) {
  Random random(seed ^ 0xfee1dead);
  SimulationOptions options = ControlPlaneFaults(seed);
  options.spare_nodes = static_cast<int>(random.Between(0, 2));
  options.user_pause = random.Chance(0.4) ? 0.05 : 0;
  options.faults.rank_crash = random.Chance(0.8) ? 0.2 : 0;
  options.faults.rank_hang = random.Chance(0.5) ? 0.3 : 0;
  options.faults.shim_crash = random.Chance(0.5) ? 0.05 : 0;
  options.faults.record_loss = random.Chance(0.5) ? 0.1 : 0;
  options.faults.data_dir_loss = random.Chance(0.3) ? 0.02 : 0;
  options.faults.node_crash = 0.02;
  options.faults.isolation = random.Chance(0.5) ? 0.03 : 0;
  options.faults.checkpoint_damage = random.Chance(0.5) ? 0.1 : 0;
  constexpr Poison kKinds[] = {Poison::kSpike, Poison::kNan, Poison::kExit};
  // The spikes are far apart, because the guard reports only the first of consecutive spikes.
  for (int64_t first : {12, 26, 40}) {
    if (!random.Chance(0.4)) continue;
    options.world.poison[first + random.Between(0, 10)] = kKinds[random.Between(0, 2)];
  }
  if (random.Chance(0.3)) options.world.bugs[random.Between(1, options.jobs)] = 30;
  options.dependent_jobs = random.Chance(0.3);
  return options;
}

SimulationOptions DependencyGraphs(uint64_t seed) {
  Random random(seed ^ 0xda6);
  SimulationOptions options = AllFaults(seed);
  options.jobs = 12;
  options.user_stop = 0.03;
  options.dependent_jobs = false;
  options.dependency_graph = true;
  // Jobs with this bug fail, after they have saved checkpoints.
  for (int64_t job = 1; job <= options.jobs; ++job) {
    if (random.Chance(0.3)) options.world.bugs[job] = 30;
  }
  return options;
}

SimulationOptions ContestedQueues(uint64_t seed) {
  Random random(seed ^ 0x9ee0e);
  SimulationOptions options = ControlPlaneFaults(seed);
  options.nodes = 4;
  options.slots_per_node = 4;
  options.spare_nodes = static_cast<int>(random.Between(0, 1));
  options.jobs = 24;
  options.contested = true;
  options.time_limits = random.Chance(0.5);
  options.dependency_graph = random.Chance(0.3);
  options.user_pause = random.Chance(0.3) ? 0.02 : 0;
  options.user_stop = 0.005;
  options.elastic_jobs = random.Chance(0.3);
  options.leaves = random.Chance(0.5);
  options.arrays = random.Chance(0.3);
  options.halving = options.arrays;
  if (options.arrays) options.jobs = 14;
  options.world.save_at_stop = random.Chance(0.7);
  for (int64_t job = 1; job <= options.jobs; ++job) {
    options.world.steps_of[job] = random.Between(10, 120);
  }
  options.faults.rank_crash = random.Chance(0.3) ? 0.02 : 0;
  options.faults.node_crash = 0.005;
  options.faults.isolation = random.Chance(0.2) ? 0.01 : 0;
  options.faults.clock_step = random.Chance(0.2) ? 0.02 : 0;
  options.host_requests = random.Chance(0.5);
  options.promised_heads = static_cast<int>(1 + seed % 3);
  // A fourth preemption of one job is too rare to show an error of the limit.
  options.preemptions = seed % 4 == 0 ? 1 : 3;
  return options;
}

SimulationOptions BuggyPrograms(uint64_t seed) {
  Random random(seed ^ 0xb06);
  SimulationOptions options = ControlPlaneFaults(seed);
  for (int64_t job = 1; job <= options.jobs; ++job) {
    if (random.Chance(0.3)) continue;
    // The step is never the first step after a checkpoint, because the report of this checkpoint
    // might arrive too late for the next attempt.
    const int64_t step = 10 * random.Between(0, 4) + random.Between(1, 9);
    options.world.bugs[job] = random.Chance(0.5) ? 0 : step;
  }
  return options;
}

SimulationOptions HealingJobs(uint64_t seed) {
  Random random(seed ^ 0x4ea1);
  SimulationOptions options;
  options.seed = seed;
  options.nodes = 7;
  options.jobs = 4;
  options.spares = static_cast<int>(random.Between(1, 2));
  options.spare_nodes = static_cast<int>(random.Between(0, 2));
  options.user_stop = random.Chance(0.3) ? 0.01 : 0;
  options.user_pause = random.Chance(0.3) ? 0.03 : 0;
  options.world.all_ranks_write = random.Chance(0.5);
  options.world.total_steps = 120;
  options.faults.network = {0.002, random.Between(20, 500)};
  options.faults.worker_disk_full = random.Chance(0.3) ? 0.05 : 0;
  options.faults.controller_crash = random.Chance(0.5) ? 0.05 : 0;
  options.faults.rank_crash = random.Chance(0.8) ? 0.1 : 0;
  // If a rank died while its worker is down, the controller could not distinguish the rank's death
  // from a lost node. Therefore workers crash only if ranks do not.
  if (options.faults.rank_crash == 0) options.faults.worker_crash = 0.05;
  options.faults.node_crash = 0.02;
  options.faults.isolation = random.Chance(0.5) ? 0.03 : 0;
  options.faults.user_drain = random.Chance(0.3) ? 0.03 : 0;
  return options;
}

SimulationOptions RestrictedNodes(uint64_t seed) {
  SimulationOptions options = AllFaults(seed);
  options.nodes = 8;
  options.spare_nodes = 1;
  options.jobs = 10;
  options.placements = true;
  // A node that returns under a new name is in no leaf. Too few leaves might be left.
  options.faults.data_dir_loss = 0;
  return options;
}

SimulationOptions LogGoesBack(uint64_t seed) {
  Random random(seed ^ 0x01d);
  SimulationOptions options;
  options.seed = seed;
  options.jobs = 12;
  options.user_stop = 0;
  options.log_goes_back = true;
  options.world.total_steps = random.Between(40, 400);
  options.faults.network = {random.Chance(0.5) ? 0.01 : 0.002, random.Between(20, 300)};
  options.faults.worker_crash = random.Chance(0.5) ? 0.05 : 0;
  options.faults.controller_crash = random.Chance(0.5) ? 0.05 : 0;
  options.faults.rank_crash = random.Chance(0.7) ? 0.1 : 0;
  return options;
}

SimulationOptions LemonNode(uint64_t seed) {
  SimulationOptions options = ControlPlaneFaults(seed);
  options.faults.device_error = 0.2;
  options.faults.program_error = 0.2;
  options.user_stop = 0;
  return options;
}

SimulationOptions NodeFaults(uint64_t seed) {
  Random random(seed ^ 0xba5e);
  SimulationOptions options;
  options.seed = seed;
  options.jobs = 12;
  // In this simulation, every job must end without being stopped by a user. Other simulations test
  // stops.
  options.user_stop = 0;
  options.faults.network = {0.002, random.Between(20, 500)};
  options.faults.worker_crash = random.Chance(0.3) ? 0.05 : 0;
  options.faults.controller_crash = random.Chance(0.3) ? 0.05 : 0;
  options.faults.worker_disk_full = random.Chance(0.5) ? 0.1 : 0;
  options.faults.start_fault = random.Chance(0.8) ? 0.15 : 0;
  options.faults.node_trouble = random.Chance(0.5) ? 0.05 : 0;
  options.faults.worker_leave = random.Chance(0.5) ? 0.1 : 0;
  options.faults.flood = random.Chance(0.5) ? 0.05 : 0;
  return options;
}

}  // namespace trainyard::simulation
