// Rules for comments and documents. Each returns its violations as "path:line: what".
#ifndef TRAINYARD_TESTS_TIDY_PROSE_RULES_H_
#define TRAINYARD_TESTS_TIDY_PROSE_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/tidy_rules.h"

namespace trainyard::tidy {

// A comment or a document names only Markdown documents of the repository: by a path from the root
// or from a folder above the file. A section cited by its number needs a heading "## N. ..." in
// that document. Paths with a variable, a wildcard or a leading slash are not checked.
Violations CheckCitations(const SourceTree& tree);

// Words of the project's own for things that the field has a name for: nobody searches for them.
// Each violation names the word to say instead. Comments and documents.
Violations CheckWords(const SourceTree& tree);

// A comment begins with the thing that it describes, not with a question word ("What ...").
Violations CheckOpenings(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_PROSE_RULES_H_
