// The faults of one run. Probabilities per second are of each controller.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_STORE_FAULTS_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_STORE_FAULTS_H_

#include <cstdint>

namespace trainyard::simulation {

struct StoreFaults {
  // Probabilities per statement: the connection breaks before the server receives the statement, or
  // before its answer arrives, so that the caller does not know the result; the answer is late.
  double break_before = 0;
  double break_after = 0;
  double late_answer = 0;
  // Probability of a pause after each step of a leader: decided, transaction begun, events
  // inserted, committed, and each answer or command sent.
  double pause_at_step = 0;

  // Probabilities per second.
  double pause = 0;  // Of 0.1 to 6 s, sometimes of a minute.
  double kill = 0;
  double hand_over = 0;     // To another controller.
  double cut_database = 0;  // A partition between controller and database.
  double cut_workers = 0;
  double cut_clients = 0;
  double break_link = 0;  // The stream of a worker breaks.
  double step_clock = 0;  // Moves the controller's wall clock by up to an hour.
  // Probabilities per second, of the database.
  double restart_database = 0;
  double end_session = 0;  // An administrator ends a session.
  double fill_disk = 0;
  double restore_copy = 0;  // An older copy replaces the database.

  // Probability per request of a client that it arrives twice.
  double duplicate_request = 0;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_STORE_FAULTS_H_
