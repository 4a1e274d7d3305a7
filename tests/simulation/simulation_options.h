// Kinds of simulation runs: which faults occur, and how often.
#ifndef TRAINYARD_TESTS_SIMULATION_SIMULATION_OPTIONS_H_
#define TRAINYARD_TESTS_SIMULATION_SIMULATION_OPTIONS_H_

#include <cstdint>

#include "tests/simulation/world/network.h"
#include "tests/simulation/world/training_world.h"

namespace trainyard::simulation {

// Time between two steps of a simulation.
inline constexpr int64_t kStepMs = 100;

// Each value except `network` is the probability (0 to 1) that the fault occurs somewhere in the
// cluster within one second.
struct Faults {
  // Probabilities per message.
  NetworkFaults network;
  // Messages between a node and the controller, in one or both directions, are held back for up to
  // 30 s. Streams may break because of it.
  double partition = 0;
  // kill -9 of a worker daemon; it restarts within 20 s. Its ranks continue.
  double worker_crash = 0;
  // kill -9 of the controller just before or after a commit, or between two ticks.
  double controller_crash = 0;
  // The controller or a worker is frozen for up to 25 s (as by SIGSTOP or a machine out of memory),
  // and messages to it are held back.
  double controller_freeze = 0;
  double worker_freeze = 0;
  // The disk of the controller or of a worker is full for up to 10 s. During that time the
  // controller's store writes nothing.
  double controller_disk_full = 0;
  double worker_disk_full = 0;
  double store_stall = 0;
  // A worker sends telemetry and output of a rank that is not its own.
  double foreign_stream = 0;
  // A user cordons or uncordons a node.
  double user_cordon = 0;
  // The device of a rank takes several times as long per step, for up to 60 s.
  double slow_device = 0;
  // The clock of a node is changed by up to ten minutes.
  double node_clock_step = 0;

  // Faults of a node that cost its jobs only time: for up to 60 s it starts no rank or reports that
  // it cannot accept any, or its worker leaves on request and returns.
  double start_fault = 0;
  double node_trouble = 0;
  double worker_leave = 0;
  // A rank exceeds a limit of its node and is ended, which fails its job.
  double flood = 0;
  // The kernel log of the first node, the faulty one, contains a device error, and that of any node
  // contains an error caused by a program. Neither ends a rank.
  double device_error = 0;
  double program_error = 0;
  // The controller's clock is changed by up to a day, forward or back, sometimes while it is down.
  double clock_step = 0;
  // The controller's machine reboots.
  double controller_reboot = 0;

  // The faults below disrupt training.
  double rank_crash = 0;
  // A training rank makes no further step or exits with 0, and its gang waits for it.
  double rank_hang = 0;
  // The shim of a rank is killed: the rank's exit status is then unknown, and its children may
  // outlive it.
  double shim_crash = 0;
  // A worker is killed and restarts without one of its records: an attempt's command, or all
  // records of a rank; sometimes also without facts and attempt numbers.
  double record_loss = 0;
  // A worker starts with an empty data directory: it ends the processes running there and becomes a
  // new node. At most twice per run.
  double data_dir_loss = 0;
  // A machine is lost permanently; at most spare_nodes machines.
  double node_crash = 0;
  // A node can reach neither its peers nor the controller for up to 30 s.
  double isolation = 0;
  // A published checkpoint becomes unreadable.
  double checkpoint_damage = 0;
};

struct SimulationOptions {
  uint64_t seed = 0;
  int nodes = 5;
  int slots_per_node = 2;
  // Number of nodes that may die. No job needs more nodes than then remain.
  int spare_nodes = 1;
  // Total number of jobs that users submit.
  int jobs = 6;
  // Probability per second that a user stops a job.
  double user_stop = 0.01;
  // Pauses any job, until the faults stop. Paused jobs are resumed within a few seconds.
  double user_pause = 0;
  // Tries to delete any job, whether it has ended or not.
  double user_delete = 0;
  // Each job has this many spare nodes and heals in place.
  int spares = 0;
  // The event log will go back in time. Only checkers that support this are run.
  bool log_goes_back = false;
  Faults faults;
  WorldOptions world;
};

// Faults of every kind. The seed selects which of them occur and how often.
SimulationOptions AllFaults(uint64_t seed);
// Only faults of network, workers and controller.
SimulationOptions ControlPlaneFaults(uint64_t seed);
// Faults of network, workers and controller, and programs with bugs.
SimulationOptions BuggyPrograms(uint64_t seed);
// Ranks and nodes of jobs with spare nodes die or are disconnected, also during heals, in addition
// to faults of network, workers and controller.
SimulationOptions HealingJobs(uint64_t seed);
// Faults of nodes. Only a job that floods its node may fail.
SimulationOptions NodeFaults(uint64_t seed);
// An older copy of the event log, or of the whole data directory, is put in place. Workers and the
// controller also crash.
SimulationOptions LogGoesBack(uint64_t seed);
// Faults of the control plane, and device errors on one node.
SimulationOptions LemonNode(uint64_t seed);

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_SIMULATION_OPTIONS_H_
