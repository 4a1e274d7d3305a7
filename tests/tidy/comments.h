// The comments of a source file, and the prose of a document.
#ifndef TRAINYARD_TESTS_TIDY_COMMENTS_H_
#define TRAINYARD_TESTS_TIDY_COMMENTS_H_

#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace trainyard::tidy {

struct CommentLine {
  int line = 0;
  // Without the mark of the comment and the spaces around the text.
  std::string text;
  // True for the first line of a comment: a comment behind code, or on lines of its own after a
  // line that is none. Always false in documents.
  bool opens = false;
};

// Comments of C++, CUDA, protobuf, TypeScript and CSS; comments of shell, CMake, YAML and Python,
// with Python's docstrings; every line of a Markdown document. Text inside of literals is no
// comment.
std::vector<CommentLine> CommentsOf(const SourceFile& file);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_COMMENTS_H_
