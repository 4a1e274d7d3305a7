// The literals of the product that users read.
#ifndef TRAINYARD_TESTS_TIDY_USER_TEXTS_H_
#define TRAINYARD_TESTS_TIDY_USER_TEXTS_H_

#include <vector>

#include "tests/tidy/literals.h"
#include "tests/tidy/source_tree.h"

namespace trainyard::tidy {

// Returns each literal of more than one word, if the file is C++ code of the product or code of the
// dashboard, and the text of the dashboard's elements. Empty for other files.
std::vector<Literal> UserTextsOf(const SourceFile& file);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_USER_TEXTS_H_
