// Comments and literals, split into sentences.
#ifndef TRAINYARD_TESTS_TIDY_SENTENCES_H_
#define TRAINYARD_TESTS_TIDY_SENTENCES_H_

#include <string>
#include <vector>

#include "tests/tidy/comments.h"
#include "tests/tidy/literals.h"

namespace trainyard::tidy {

struct Sentence {
  int line = 0;  // Line of its first character, from 1.
  std::string text;
};

// Sentences of comments. A sentence may continue on the next line of its comment. An empty line, a
// list item or another comment begins a new one. Documents have no sentences.
std::vector<Sentence> SentencesOf(const std::vector<CommentLine>& comments);

// Sentences of literals with several words. A line break begins a new sentence. All sentences of a
// literal have the number of its first line.
std::vector<Sentence> SentencesOf(const std::vector<Literal>& literals);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_SENTENCES_H_
