// Rules of the house about names, lines, comments and single calls.
#ifndef TRAINYARD_TESTS_TIDY_TIDY_RULES_H_
#define TRAINYARD_TESTS_TIDY_TIDY_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

inline constexpr int kMaxColumns = 100;

// The product removes trees by proto/files/remove_tree.h alone, which follows no link and enters
// no mount.
Violations CheckRemovals(const SourceTree& tree);

// "epoch" is a pass over the data: identifiers, proto files, the REST contract and the dashboard
// call the number of an attempt `attempt`. Literals are free: earlier versions wrote the word.
Violations CheckAttemptName(const SourceTree& tree);

// Columns of C++ and shell, tabs anywhere, marks of unfinished work anywhere.
Violations CheckLines(const SourceTree& tree);

// A name that proto/contract gives, such as "step_seconds", is not written as a literal again.
Violations CheckContractNames(const SourceTree& tree);

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
