// Options of simulation runs: which faults occur, and how often.
#ifndef TRAINYARD_TESTS_SIMULATION_SIMULATION_OPTIONS_H_
#define TRAINYARD_TESTS_SIMULATION_SIMULATION_OPTIONS_H_

#include <cstdint>

#include "tests/simulation/world/network.h"
#include "tests/simulation/world/training_world.h"

namespace trainyard::simulation {

// The length of a simulation step.
inline constexpr int64_t kStepMs = 100;

// Probabilities of faults. Each value except `network` is the probability (0 to 1) that the fault
// occurs somewhere in the cluster within one second.
struct Faults {
  // Probabilities per message.
  NetworkFaults network;
  // Delays messages between a node and the controller for up to 30 s, in one or both directions.
  // The delay may break streams.
  double partition = 0;
  // Kills a worker daemon with kill -9. The daemon restarts within 20 s. The ranks continue.
  double worker_crash = 0;
  // Kills the controller with kill -9 just before or after a commit, or between two ticks.
  double controller_crash = 0;
  // Another controller takes over. The present one notices this up to 3 s later.
  double failover = 0;
  // Freezes the controller or a worker for up to 25 s, as SIGSTOP or a machine without free memory
  // would. Messages to the frozen process are delayed.
  double controller_freeze = 0;
  double worker_freeze = 0;
  // Each of these faults lasts up to 10 s: the controller's disk is full, a worker's disk is full,
  // or the controller's store writes nothing.
  double controller_disk_full = 0;
  double worker_disk_full = 0;
  double store_stall = 0;
  // Makes a worker send telemetry and output of a rank that belongs to another worker.
  double foreign_stream = 0;
  // A user cordons or uncordons a node.
  double user_cordon = 0;
  // A user drains a node with a deadline of up to 20 s, or ends a drain.
  double user_drain = 0;
  // Makes the device of a rank take several times as long per step, for up to 60 s.
  double slow_device = 0;
  // The clock of a node jumps by up to ten minutes.
  double node_clock_step = 0;

  // Faults of a node that only delay its jobs. For up to 60 s, the
  // node starts no rank or reports that it cannot accept ranks. A
  // third fault: the node's worker leaves on request and returns.
  double start_fault = 0;
  double node_trouble = 0;
  double worker_leave = 0;
  // A rank exceeds a limit of its node. The worker ends the rank, which fails the rank's job.
  double flood = 0;
  // Messages in a node's kernel log, none of which ends a rank.
  // device_error: a device error of the first node, the faulty
  // node. program_error: an error on any node, caused by a program.
  double device_error = 0;
  double program_error = 0;
  // The controller's clock jumps by up to a day, forwards or backwards, sometimes while the
  // controller is down.
  double clock_step = 0;
  // The controller's machine reboots.
  double controller_reboot = 0;

  // A rank exits with an error or is killed by a signal. This fault and the faults below disrupt
  // training.
  double rank_crash = 0;
  // A training rank stops making steps or exits with 0. The rank's gang waits for the rank.
  double rank_hang = 0;
  // The shim of a rank is killed. The rank's exit status is then unknown, and the rank's children
  // may outlive it.
  double shim_crash = 0;
  // A worker is killed, and one of its records is lost before it restarts: an attempt's command, or
  // all records of a rank. Sometimes facts and attempt numbers are lost, too.
  double record_loss = 0;
  // A worker restarts with an empty data directory. The worker ends the processes running on its
  // node and joins as a new node. Occurs at most twice per run.
  double data_dir_loss = 0;
  // A machine is lost permanently. At most spare_nodes machines are lost per run.
  double node_crash = 0;
  // For up to 30 s, a node can reach neither its peers nor the controller.
  double isolation = 0;
  // A published checkpoint becomes unreadable.
  double checkpoint_damage = 0;
};

struct SimulationOptions {
  uint64_t seed = 0;
  int nodes = 5;
  int slots_per_node = 2;
  // The number of nodes that may die. No job needs more nodes than would remain.
  int spare_nodes = 1;
  // Total number of jobs that users submit.
  int jobs = 6;
  // Probability per second that a user stops a job.
  double user_stop = 0.01;
  // Probability per second that a user pauses a job. Users pause no more jobs once the faults stop.
  // Users resume paused jobs within a few seconds.
  double user_pause = 0;
  // Probability per second that a user tries to delete a job, ended or not.
  double user_delete = 0;
  // True if every third job waits for the success of the preceding one.
  bool dependent_jobs = false;
  // True if every job has a time limit, at which every second job is queued again. Users extend
  // some of the limits.
  bool time_limits = false;
  // True if the nodes have GPUs of two models and the labels `pool` and `half`, and most jobs
  // restrict their nodes.
  bool placements = false;
  // True if the first nodes form leaves of two nodes. No job requires a leaf.
  bool leaves = false;
  // True if every second job is an array of a few elements.
  bool arrays = false;
  // True if every second array is halved.
  bool halving = false;
  // True if some jobs request CPU cores and memory.
  bool host_requests = false;
  // True if most jobs have a range of nodes.
  bool elastic_jobs = false;
  // True if most jobs with several slots per node start launchers of several ranks.
  bool launchers = false;
  // True if most jobs wait for random conditions on random earlier jobs.
  bool dependency_graph = false;
  // True if the jobs belong to several users and to queues with random shares, tiers and limits,
  // have random priorities, and preempt each other. Users move jobs and change the queues.
  bool contested = false;
  // The number of heads of the queue that are promised a time.
  int promised_heads = 1;
  // The maximum number of preemptions of a job within the window (kSimulatedPreemption).
  int preemptions = 3;
  // Each job has this many spare nodes and heals in place.
  int spares = 0;
  // True if the event log will go back in time.
  // Only checkers that support such a log are run.
  bool log_goes_back = false;
  Faults faults;
  WorldOptions world;
};

// All kinds of faults are possible. The seed selects which faults occur and how often.
SimulationOptions AllFaults(uint64_t seed);
// Faults of the network, the workers and the controller only.
SimulationOptions ControlPlaneFaults(uint64_t seed);
// Faults of the network, the workers and the controller, and programs with bugs.
SimulationOptions BuggyPrograms(uint64_t seed);
// Jobs with spare nodes. Their ranks and nodes die or are disconnected, even during heals. Faults
// of the network, the workers and the controller occur as well.
SimulationOptions HealingJobs(uint64_t seed);
// All kinds of faults, with jobs that wait for conditions on each other and end in every way.
SimulationOptions DependencyGraphs(uint64_t seed);
// All kinds of faults, with two kinds of GPU and jobs that restrict their nodes.
SimulationOptions RestrictedNodes(uint64_t seed);
// Jobs of several queues compete for slots, under faults of all kinds that are rarer than those of
// AllFaults, because a preemption needs a gang that has run for a while.
SimulationOptions ContestedQueues(uint64_t seed);
// Faults of nodes. A job may fail only if it floods its node.
SimulationOptions NodeFaults(uint64_t seed);
// The event log or the whole data directory is replaced with an older copy. Workers and the
// controller also crash.
SimulationOptions LogGoesBack(uint64_t seed);
// Faults of the control plane, and device errors on one node.
SimulationOptions LemonNode(uint64_t seed);

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_SIMULATION_OPTIONS_H_
