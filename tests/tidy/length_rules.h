// Limits on the lengths of files and functions, and on the size of proto/support.
#ifndef TRAINYARD_TESTS_TIDY_LENGTH_RULES_H_
#define TRAINYARD_TESTS_TIDY_LENGTH_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

inline constexpr int kMaxFileLines = 499;
inline constexpr int kMaxFunctionLines = 60;
inline constexpr int kMaxSupportLines = 800;

// Checks every file except prose.
Violations CheckFileLengths(const SourceTree& tree);

// A function extends from the line of its name to the closing brace, including a constructor's
// initializers. A data table is not a function. Generated files, whose first line begins with
// "Generated from", are exempt.
Violations CheckFunctionLengths(const SourceTree& tree);

// proto/support must stay small: at most kMaxSupportLines in total.
Violations CheckSupportSize(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_LENGTH_RULES_H_
