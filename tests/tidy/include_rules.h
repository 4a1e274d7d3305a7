// The rules about what a folder may include and use.
#ifndef TRAINYARD_TESTS_TIDY_INCLUDE_RULES_H_
#define TRAINYARD_TESTS_TIDY_INCLUDE_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// core <- store, rpc <- controller.cpp; controller and worker apart; cli on its own; trainer alone.
Violations CheckIncludeDirection(const SourceTree& tree);

// gRPC, protobuf and SQLite are used only in the folders of ARCHITECTURE.md section 1.
Violations CheckLibraries(const SourceTree& tree);

// No clock, thread, randomness, environment, file or network in the pure folders.
Violations CheckPureFolders(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_INCLUDE_RULES_H_
