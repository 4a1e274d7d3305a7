// Splits comments and literals into sentences.
#ifndef TRAINYARD_TESTS_TIDY_SENTENCES_H_
#define TRAINYARD_TESTS_TIDY_SENTENCES_H_

#include <string>
#include <vector>

#include "tests/tidy/comments.h"
#include "tests/tidy/literals.h"

namespace trainyard::tidy {

struct Sentence {
  int line = 0;  // Line of the first character, from 1.
  std::string text;
};

// Returns the sentences of comments. A sentence may continue on the next line of its comment. An
// empty line, a list item or the next comment begins a new sentence. Documents are skipped.
std::vector<Sentence> SentencesOf(const std::vector<CommentLine>& comments);

// Returns the sentences of literals with several words. A line break begins a new sentence. A
// sentence has the number of its literal's first line.
std::vector<Sentence> SentencesOf(const std::vector<Literal>& literals);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_SENTENCES_H_
