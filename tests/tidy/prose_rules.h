// Rules for comments, documents and user texts. Each returns its violations as "path:line: what".
#ifndef TRAINYARD_TESTS_TIDY_PROSE_RULES_H_
#define TRAINYARD_TESTS_TIDY_PROSE_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// A comment or a document names only Markdown documents of the repository: by a path from the root
// or from a folder above the file. A section cited by its number needs a heading "## N. ..." in
// that document. Paths with a variable, a wildcard or a leading slash are not checked.
Violations CheckCitations(const SourceTree& tree);

// Words of the project's own for things that the field has a name for: nobody searches for them.
// Each violation names the word to say instead. Comments, documents, and texts for users: literals
// of several words in the product's C++ and in the dashboard, and the text of its elements.
Violations CheckWords(const SourceTree& tree);

// A sentence begins with the thing that it describes. A question word without a question, and
// fragments such as "Of ...", "Also ..." and "The same for ..." are refused. Comments and texts for
// users. Folders that do not follow this rule yet are in a table with the reason.
Violations CheckOpenings(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_PROSE_RULES_H_
