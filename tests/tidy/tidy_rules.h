// Project rules about names, lines, comments and individual calls.
#ifndef TRAINYARD_TESTS_TIDY_TIDY_RULES_H_
#define TRAINYARD_TESTS_TIDY_TIDY_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

inline constexpr int kMaxColumns = 100;

// The product may remove directory trees only through proto/files/remove_tree.h. Its functions
// follow no link and enter no mount.
Violations CheckRemovals(const SourceTree& tree);

// "epoch" means a pass over the data. In identifiers, proto files, the REST contract and the
// dashboard, the number of an attempt must be named `attempt`. Literals are exempt, because data of
// earlier versions contains the word.
Violations CheckAttemptName(const SourceTree& tree);

// Checks line lengths in C++ and shell files. In all files, checks for tabs and for marks of
// unfinished work.
Violations CheckLines(const SourceTree& tree);

// A name defined in proto/contract, such as "step_seconds", must not be repeated as a literal
// elsewhere.
Violations CheckContractNames(const SourceTree& tree);

// Rejects meaningless names.
Violations CheckNames(const SourceTree& tree);

// Every source file must be built: a CMakeLists.txt must list it.
Violations CheckOrphans(const SourceTree& tree);

Violations CheckReadmes(const SourceTree& tree);

// Every field of a message must have a comment, or be documented by its setting rule. The
// alternatives of a oneof and the sections of the job file are documented at their messages.
Violations CheckFieldComments(const SourceTree& tree);

// The trainer must check the result of every call to CUDA, cuBLAS, cuDNN and NCCL, or discard it
// explicitly with static_cast<void>. A bare cudaGetLastError is allowed, because it clears the
// error on purpose.
Violations CheckDroppedResults(const SourceTree& tree);

// Header guards must be derived from the path.
Violations CheckHeaderGuards(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_TIDY_RULES_H_
