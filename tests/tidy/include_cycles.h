// Rules against cycles: no module and no folder may include itself indirectly.
#ifndef TRAINYARD_TESTS_TIDY_INCLUDE_CYCLES_H_
#define TRAINYARD_TESTS_TIDY_INCLUDE_CYCLES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// Checks modules. A module is a header together with the source file of that name.
Violations CheckModuleCycles(const SourceTree& tree);

// Checks folders. Folder A includes folder B if a file of A includes a file of B.
Violations CheckFolderCycles(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_INCLUDE_CYCLES_H_
