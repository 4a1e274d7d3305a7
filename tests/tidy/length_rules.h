// The limits of files, functions and proto/support.
#ifndef TRAINYARD_TESTS_TIDY_LENGTH_RULES_H_
#define TRAINYARD_TESTS_TIDY_LENGTH_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

inline constexpr int kMaxFileLines = 600;
inline constexpr int kMaxFunctionLines = 60;
inline constexpr int kMaxSupportLines = 800;

Violations CheckFileLengths(const SourceTree& tree);
Violations CheckFunctionLengths(const SourceTree& tree);

// proto/support stays small: kMaxSupportLines in all.
Violations CheckSupportSize(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_LENGTH_RULES_H_
