// A rule that keeps one word for one thing, as the glossary in ARCHITECTURE.md defines it.
#ifndef TRAINYARD_TESTS_TIDY_TERM_RULES_H_
#define TRAINYARD_TESTS_TIDY_TERM_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// Rejects retired words: second names of things in the glossary, and second spellings. Each
// violation names the word to use. Checks user texts, documents, protobuf files, whose comments are
// part of the API's description, and files of deploy/ and recipes/. CHANGELOG.md is exempt, because
// it names what was renamed.
Violations CheckTerms(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_TERM_RULES_H_
