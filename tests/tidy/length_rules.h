// The limits of files, functions and proto/support.
#ifndef TRAINYARD_TESTS_TIDY_LENGTH_RULES_H_
#define TRAINYARD_TESTS_TIDY_LENGTH_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

inline constexpr int kMaxFileLines = 499;
inline constexpr int kMaxFunctionLines = 60;
inline constexpr int kMaxSupportLines = 800;

// Every file except prose.
Violations CheckFileLengths(const SourceTree& tree);

// From the line of the name to the closing brace, with the initializers of a constructor. A table
// of data is no function.
Violations CheckFunctionLengths(const SourceTree& tree);

// proto/support must stay small: at most kMaxSupportLines in total.
Violations CheckSupportSize(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_LENGTH_RULES_H_
