// Rules for comments, documents and user texts. Each returns its violations as "path:line: what".
#ifndef TRAINYARD_TESTS_TIDY_PROSE_RULES_H_
#define TRAINYARD_TESTS_TIDY_PROSE_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// A comment or document may name only Markdown documents of the repository, by a path from the root
// or from a folder above the file. A section cited by number requires a heading "## N. ..." in that
// document. Paths with a variable, a wildcard or a leading slash are not checked.
Violations CheckCitations(const SourceTree& tree);

// Rejects words coined by the project for things that have a standard name, because nobody searches
// for them. Each violation names the replacement. Checks comments, documents, and user texts:
// literals of several words in the product's C++ and in the dashboard, and the text of its
// elements.
Violations CheckWords(const SourceTree& tree);

// A sentence must begin with the thing that it describes. Rejects a question word without a
// question, and fragments such as "Of ...", "Also ..." and "The same for ...", in comments and user
// texts. Folders that do not follow this rule yet are listed with the reason.
Violations CheckOpenings(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_PROSE_RULES_H_
