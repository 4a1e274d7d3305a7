// Opens the stores that the options name, and tells where they are.
#ifndef TRAINYARD_CONTROLLER_STORE_OPENING_H_
#define TRAINYARD_CONTROLLER_STORE_OPENING_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "controller/controller_options.h"
#include "controller/store/stores.h"

namespace trainyard::controller {

// Opens the stores in the PostgreSQL database of the options, or in the data directory. On a
// database, this process must lead the term of the options (cluster_member.h).
absl::StatusOr<Stores> OpenStores(const ControllerOptions& options);

// Calls OpenLeaderSeat. Logs the begin of the first call, and each call that takes long, so that a
// slow or overloaded database server does not look like a controller that does nothing.
class SeatOpening {
 public:
  // `stores` must outlive this object.
  explicit SeatOpening(const PostgresStoreOptions& stores) : stores_(stores) {}

  absl::StatusOr<std::unique_ptr<LeaderSeat>> Open();

 private:
  const PostgresStoreOptions& stores_;
  bool logged_ = false;  // True after the first call.
};

// Returns the id of the cluster to which the stores belong. `log_is_empty`: the event log has no
// event.
absl::StatusOr<std::string> ClusterIdOf(const Stores& stores, bool log_is_empty);

// Returns the directory with the database files; empty if the stores are not in files.
std::string DatabaseFilesOf(const Stores& stores);

// Returns the file in which this controller keeps its mark of the event log; empty if the stores
// are not in a database server.
std::string LogMarkFileOf(const Stores& stores);

// Returns the retention rules that apply to the stores. Shares of the disk apply only to stores in
// files: the controller does not know the disk of a database server.
RetentionPolicy RetentionOf(const Stores& stores, RetentionPolicy policy);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_OPENING_H_
