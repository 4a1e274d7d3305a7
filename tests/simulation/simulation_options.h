// The kinds of runs: which faults occur, and how often.
#ifndef TRAINYARD_TESTS_SIMULATION_SIMULATION_OPTIONS_H_
#define TRAINYARD_TESTS_SIMULATION_SIMULATION_OPTIONS_H_

#include <cstdint>

#include "tests/simulation/world/network.h"
#include "tests/simulation/world/training_world.h"

namespace trainyard::simulation {

// Time between two steps of a simulation.
inline constexpr int64_t kStepMs = 100;

// Each value but `network` is the chance (0 to 1) that the fault occurs somewhere in the cluster
// within one second.
struct Faults {
  // Chances for each message.
  NetworkFaults network;
  // Messages between a node and the controller wait for up to 30 s, or those of one way only;
  // streams may break of it.
  double partition = 0;
  // kill -9 of a worker daemon; it starts again within 20 s. Its ranks go on.
  double worker_crash = 0;
  // kill -9 of the controller just before or after its commit, or between two ticks.
  double controller_crash = 0;
  // The controller or a worker is frozen for up to 25 s (SIGSTOP, a machine out of memory), and
  // messages to it wait.
  double controller_freeze = 0;
  double worker_freeze = 0;
  // The disk of the controller or of a worker is full for up to 10 s; its store writes nothing for
  // as long.
  double controller_disk_full = 0;
  double worker_disk_full = 0;
  double store_stall = 0;
  // A worker sends telemetry and output of a rank that is not its own.
  double foreign_stream = 0;
  // A user keeps new ranks off a node, or lets them on it again.
  double user_cordon = 0;
  // The device of a rank takes several times as long for its steps, for up to 60 s.
  double slow_device = 0;
  // The clock of a node is set by up to ten minutes.
  double node_clock_step = 0;

  // Faults of a node that cost its jobs nothing but time: for up to 60 s it starts no rank or
  // reports that it can take none; its worker leaves on request and comes back.
  double start_fault = 0;
  double node_trouble = 0;
  double worker_leave = 0;
  // A rank exceeds a limit of its node and is ended; that fails its job.
  double flood = 0;
  // The kernel's log of the first node, a lemon, has an error of its device, and that of any node
  // an error of a program. Neither ends a rank.
  double device_error = 0;
  double program_error = 0;
  // The controller's clock is set by up to a day, forward or back; sometimes while it is down.
  double clock_step = 0;
  // The controller's machine starts anew.
  double controller_reboot = 0;

  // The faults below damage training.
  double rank_crash = 0;
  // A rank that trains makes no step any more or exits with 0, and its gang waits for it.
  double rank_hang = 0;
  // The shim of a rank is killed: the rank's exit is then unknown, and its children may outlive it.
  double shim_crash = 0;
  // A worker is killed, and starts again without one of its records: an attempt's command, or all
  // records of a rank; sometimes also without facts and attempt numbers.
  double record_loss = 0;
  // A worker starts with an empty data directory: it ends what runs there and is a new node. Twice
  // at most.
  double data_dir_loss = 0;
  // A machine is gone for good; at most spare_nodes of them.
  double node_crash = 0;
  // A node reaches neither its peers nor the controller for up to 30 s.
  double isolation = 0;
  // A published checkpoint cannot be read any more.
  double checkpoint_damage = 0;
};

struct SimulationOptions {
  uint64_t seed = 0;
  int nodes = 5;
  int slots_per_node = 2;
  // Nodes that may die; no job needs more nodes than are left then.
  int spare_nodes = 1;
  // Jobs that users submit in all.
  int jobs = 6;
  // Chance a second that a user stops a job.
  double user_stop = 0.01;
  // Pauses any job, until the faults stop; paused jobs are resumed within some seconds.
  double user_pause = 0;
  // Tries to delete any job, ended or not.
  double user_delete = 0;
  // Jobs have this many spare nodes, and heal in place.
  int spares = 0;
  // The event log will go back in time: only the checkers run that know how.
  bool log_goes_back = false;
  Faults faults;
  WorldOptions world;
};

// Faults of every kind; the seed chooses which of them occur and how often.
SimulationOptions AllFaults(uint64_t seed);
// Faults of network, workers and controller only.
SimulationOptions ControlPlaneFaults(uint64_t seed);
// Faults of network, workers and controller, in programs with bugs.
SimulationOptions BuggyPrograms(uint64_t seed);
// Ranks and nodes that die or are cut off under jobs with spare nodes, also while they heal, with
// faults of network, workers and controller.
SimulationOptions HealingJobs(uint64_t seed);
// Faults of nodes that must fail no job but the one that floods its node.
SimulationOptions NodeFaults(uint64_t seed);
// An older copy of the event log, or of the whole data directory, is put in place. Crashes of
// workers and of the controller happen beside it.
SimulationOptions LogGoesBack(uint64_t seed);
// Faults of the control plane, and errors of devices on one node.
SimulationOptions LemonNode(uint64_t seed);

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_SIMULATION_OPTIONS_H_
