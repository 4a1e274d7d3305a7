// The rules that no module and no folder includes itself indirectly.
#ifndef TRAINYARD_TESTS_TIDY_INCLUDE_CYCLES_H_
#define TRAINYARD_TESTS_TIDY_INCLUDE_CYCLES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// Checks modules. A module is a header together with the source file of the same name.
Violations CheckModuleCycles(const SourceTree& tree);

// Checks folders. A folder includes another folder if one of its files includes a file there.
Violations CheckFolderCycles(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_INCLUDE_CYCLES_H_
