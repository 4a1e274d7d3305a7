// A rule that enforces one word per thing: the word defined by the glossary in ARCHITECTURE.md.
#ifndef TRAINYARD_TESTS_TIDY_TERM_RULES_H_
#define TRAINYARD_TESTS_TIDY_TERM_RULES_H_

#include "tests/tidy/source_tree.h"
#include "tests/tidy/violations.h"

namespace trainyard::tidy {

// Rejects retired words: second names of things in the glossary, and second spellings. Each
// violation names the word to use. Checks user texts, documents, files of deploy/ and recipes/, and
// protobuf files (their comments are part of the API's description). CHANGELOG.md is exempt,
// because it lists the former names.
Violations CheckTerms(const SourceTree& tree);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_TERM_RULES_H_
