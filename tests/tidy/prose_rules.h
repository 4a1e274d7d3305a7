// Rules for comments, documents and user texts. Each rule returns its violations as "path:line:
// message".
#ifndef TRAINYARD_TESTS_TIDY_PROSE_RULES_H_
#define TRAINYARD_TESTS_TIDY_PROSE_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// Comments and documents may cite only Markdown documents that exist in the repository. Cited paths
// are relative to the root or to a folder above the file. A section cited by its number must have a
// heading "## N. ..." in the document. Paths with a variable, a wildcard or a leading slash are not
// checked.
Violations CheckCitations(const SourceTree& tree);

// Rejects coined words for things that have a standard name, because nobody searches for coined
// words. Each violation names the replacement. Checks comments, documents and user texts. User
// texts are literals of several words in the product's C++ and in the dashboard, and the text of
// the dashboard's elements.
Violations CheckWords(const SourceTree& tree);

// A sentence must begin with the thing that it describes. Rejects sentences that begin with a
// question word but are not questions, and fragments such as "Of ...", "Also ..." and "The same for
// ...". Checks comments and user texts. Folders that do not follow this rule yet are listed with
// the reason.
Violations CheckOpenings(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_PROSE_RULES_H_
