// The queues of a simulated cluster, and users who change them and move jobs between them.
#ifndef TRAINYARD_TESTS_SIMULATION_SIMULATED_QUEUES_H_
#define TRAINYARD_TESTS_SIMULATION_SIMULATED_QUEUES_H_

#include <cstdint>
#include <string>

#include "tests/simulation/world/random.h"
#include "tests/simulation/world/simulated_controller.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::simulation {

// The number of slots of the largest job in a run with queues.
inline constexpr int kLargestContestedJob = 8;

class SimulatedQueues {
 public:
  SimulatedQueues(Random& random, SimulatedController& controller)
      : random_(random), controller_(controller) {}

  // Sets the queue and the priority of a new job. Returns the name of its user.
  std::string ChooseFor(v1::JobSpec& spec);
  // Sends the requests of one step. `submitted`: the number of submitted jobs.
  void Act(int submitted);
  // Sends requests to reserve nodes, and to delete reservations.
  void ReserveNodes();
  // A reservation may last for hours after the clock was set back, so no job would start until
  // then.
  void DeleteAllReservations();

 private:
  void SetQueue();
  void DeleteQueue();
  void MoveJob(int submitted);
  void Reserve();
  void DeleteReservation();
  // Returns the name of a queue, whether or not it has settings.
  std::string AnyQueue();

  Random& random_;
  SimulatedController& controller_;
  int reservations_ = 0;  // Number of requests to reserve a node.
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_SIMULATED_QUEUES_H_
