// The rules about what a folder may include and use.
#ifndef TRAINYARD_TESTS_TIDY_INCLUDE_RULES_H_
#define TRAINYARD_TESTS_TIDY_INCLUDE_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// core <- store, rpc <- controller.cpp. Controller and worker are separate; cli includes only
// controller/planner of them; trainer includes neither.
Violations CheckIncludeDirection(const SourceTree& tree);

// gRPC, protobuf and SQLite may be used only in the folders listed in ARCHITECTURE.md section 1.
Violations CheckLibraries(const SourceTree& tree);

// The pure folders must not use clocks, threads, randomness, the environment, files or the network.
Violations CheckPureFolders(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_INCLUDE_RULES_H_
