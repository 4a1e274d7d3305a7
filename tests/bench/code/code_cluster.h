// Nodes in one process that fetch a code snapshot at the same time: the workers' download, trees on
// disk and encrypted connections between nodes, and the controller's store and choice of sources.
// Only the connection between workers and controller is replaced by function calls.
#ifndef TRAINYARD_TESTS_BENCH_CODE_CODE_CLUSTER_H_
#define TRAINYARD_TESTS_BENCH_CODE_CODE_CLUSTER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::bench {

struct CodeClusterLoad {
  std::string directory;  // An existing directory for the store and the trees.
  int nodes = 256;
  int files = 500;
  int64_t bytes = 20'000'000;  // The size of all files together.
  // Number of nodes whose answers are useless: one third sends other bytes, one third cannot be
  // reached, one third never answers.
  int bad_nodes = 0;
};

struct CodeClusterReport {
  double seconds = 0;            // From the start until all nodes have the snapshot.
  int ready_nodes = 0;           // Nodes with the whole snapshot.
  int max_copies = 0;            // Maximum number of times that one blob left the controller.
  int64_t controller_bytes = 0;  // Sum of the packs that left the controller.
};

absl::StatusOr<CodeClusterReport> RunCodeCluster(const CodeClusterLoad& load);

}  // namespace trainyard::bench

#endif  // TRAINYARD_TESTS_BENCH_CODE_CODE_CLUSTER_H_
