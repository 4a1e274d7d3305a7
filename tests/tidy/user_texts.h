// The literals of the product that users read.
#ifndef TRAINYARD_TESTS_TIDY_USER_TEXTS_H_
#define TRAINYARD_TESTS_TIDY_USER_TEXTS_H_

#include <vector>

#include "tests/tidy/literals.h"
#include "tests/tidy/source_tree.h"

namespace trainyard::tidy {

// Returns the literals of several words in the product's C++ and in the dashboard, and the text of
// the dashboard's elements. Empty for other files.
std::vector<Literal> UserTextsOf(const SourceFile& file);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_USER_TEXTS_H_
