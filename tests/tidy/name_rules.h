// Rules for identifiers. Each rule returns its violations as "path:line: message".
#ifndef TRAINYARD_TESTS_TIDY_NAME_RULES_H_
#define TRAINYARD_TESTS_TIDY_NAME_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// Names in the product's C++ and in the dashboard must not contain metaphors, such as HoldBack, or
// words of speech, such as Told. Each violation names the standard terms. Fields of proto files are
// exempt. Folders that do not follow this rule yet are listed as exempt, with the names to replace.
Violations CheckNameParts(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_NAME_RULES_H_
