// The rules of the house that a machine can check. Each returns its violations as "path:line:
// what".
#ifndef TRAINYARD_TESTS_TIDY_TIDY_RULES_H_
#define TRAINYARD_TESTS_TIDY_TIDY_RULES_H_

#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace trainyard::tidy {

using Violations = std::vector<std::string>;

inline constexpr int kMaxFileLines = 600;
inline constexpr int kMaxFunctionLines = 60;
inline constexpr int kMaxColumns = 100;
inline constexpr int kMaxSupportLines = 800;

// core <- store, rpc <- controller.cpp; controller and worker apart; cli on its own; trainer alone.
Violations CheckIncludeDirection(const SourceTree& tree);

// gRPC, protobuf and SQLite are used only in the folders of ARCHITECTURE.md section 1.
Violations CheckLibraries(const SourceTree& tree);

// No clock, thread, randomness, environment, file or network in the pure folders.
Violations CheckPureFolders(const SourceTree& tree);

// The product removes trees by proto/contract/remove_tree.h alone, which follows no link and enters
// no mount.
Violations CheckRemovals(const SourceTree& tree);

// "epoch" is a pass over the data: identifiers, proto files, the REST contract and the dashboard
// call the number of an attempt `attempt`. Literals are free: earlier versions wrote the word.
Violations CheckAttemptName(const SourceTree& tree);

Violations CheckFileLengths(const SourceTree& tree);
Violations CheckFunctionLengths(const SourceTree& tree);

// Columns of C++ and shell, tabs anywhere, marks of unfinished work anywhere.
Violations CheckLines(const SourceTree& tree);

// A name that proto/contract gives, such as "step_seconds", is not written as a literal again.
Violations CheckContractNames(const SourceTree& tree);

// proto/support stays small: kMaxSupportLines in all.
Violations CheckSupportSize(const SourceTree& tree);

// Names that say nothing.
Violations CheckNames(const SourceTree& tree);

// Every source file is built: it stands in a CMakeLists.txt.
Violations CheckOrphans(const SourceTree& tree);

Violations CheckReadmes(const SourceTree& tree);

// Every field of a message is commented, or documented by its rule. Kinds of a oneof and sections
// of the job file are documented where their messages are.
Violations CheckFieldComments(const SourceTree& tree);

// The trainer checks the result of every call of CUDA, cuBLAS, cuDNN and NCCL, or drops it by a
// static_cast<void>. A bare cudaGetLastError clears the error on purpose.
Violations CheckDroppedResults(const SourceTree& tree);

// Headers are guarded by their path.
Violations CheckHeaderGuards(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_TIDY_RULES_H_
