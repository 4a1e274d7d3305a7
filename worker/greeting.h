// Makes the Hello of this node: its name, inventory, cluster and proof of identity.
#ifndef TRAINYARD_WORKER_GREETING_H_
#define TRAINYARD_WORKER_GREETING_H_

#include <string>

#include "absl/status/statusor.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/spool/data_dir.h"
#include "worker/worker_options.h"

namespace trainyard::worker {

// Returns a Hello without attempts and without proof.
absl::StatusOr<v1::Hello> MakeGreeting(const WorkerOptions& options, const DataDir& data_dir);

// Proves the node's identity without revealing its secret (proto/proof/proof.h).
void SignHello(const std::string& challenge, const std::string& nonce, const std::string& secret,
               v1::Hello& hello);

// Records on disk and in `greeting` the id of the cluster that the node has joined. Does nothing if
// the id is empty or already recorded.
void KeepClusterId(const std::string& cluster_id, const DataDir& data_dir, v1::Hello& greeting);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_GREETING_H_
