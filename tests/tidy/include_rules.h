// Rules about which headers and libraries a folder may use.
#ifndef TRAINYARD_TESTS_TIDY_INCLUDE_RULES_H_
#define TRAINYARD_TESTS_TIDY_INCLUDE_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// Includes go towards the core: controller.cpp may include rpc and store, and rpc and store may
// include core, but never the reverse. Controller and worker must not include each other. cli may
// include only controller/planner; trainer may include neither. Rooms of data/ include each other
// in one direction, and never cli.
Violations CheckIncludeDirection(const SourceTree& tree);

// gRPC, protobuf and SQLite may be used only in the folders listed in ARCHITECTURE.md section 1.
Violations CheckLibraries(const SourceTree& tree);

// The pure folders must not use clocks, threads, randomness, the environment, files or the network.
Violations CheckPureFolders(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_INCLUDE_RULES_H_
