// Parts that controllers, nodes and clients of a simulation share.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_WORLD_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_WORLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "tests/simulation/store/agenda.h"
#include "tests/simulation/store/audit.h"
#include "tests/simulation/store/simulated_database.h"
#include "tests/simulation/store/store_faults.h"
#include "tests/simulation/world/random.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::simulation {

// The parts of the cluster that a controller cannot reach.
enum class Side { kDatabase, kWorkers, kClients };

enum class ClientAction { kSubmit, kStop, kList };

struct ClientRequest {
  int client = 0;
  int64_t number = 0;  // Increases with each attempt of the client.
  ClientAction action = ClientAction::kList;
  std::string name;    // The name and the request id of the job. For kSubmit and kStop.
  int64_t job_id = 0;  // For kStop.
};

struct ClientAnswer {
  int64_t number = 0;
  // UNAVAILABLE: try again, because the controller does not lead or cannot store changes.
  // FAILED_PRECONDITION: the job to stop has ended.
  absl::Status status;
  int64_t job_id = 0;                // For kSubmit.
  std::map<std::string, bool> jobs;  // For kList: by name, whether the job was stopped.
};

struct World {
  Agenda& agenda;
  Random& random;
  SimulatedDatabase& database;
  Audit& audit;
  const StoreFaults& faults;
  // The partitions in effect, by the number of the controller.
  std::set<std::pair<int, Side>> cuts = {};
  bool database_is_down = false;
  std::function<void(int client, ClientAnswer answer)> to_client = nullptr;
  // `link` identifies a stream between a worker and a controller.
  std::function<void(int64_t link, v1::ControllerMessage message)> to_worker = nullptr;
  std::function<void(int64_t link)> close_link = nullptr;
  // Closes all streams of the controller.
  std::function<void(int member)> close_links = nullptr;

  bool IsCut(int member, Side side) const { return cuts.contains({member, side}); }
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_WORLD_H_
