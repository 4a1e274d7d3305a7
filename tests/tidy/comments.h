// The comments of a source file, and the prose of a document.
#ifndef TRAINYARD_TESTS_TIDY_COMMENTS_H_
#define TRAINYARD_TESTS_TIDY_COMMENTS_H_

#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace trainyard::tidy {

struct CommentLine {
  int line = 0;
  // Without the comment marker and without the spaces around the text.
  std::string text;
  // True for the first line of a comment: after code, or on its own line after a line that is not a
  // comment. Always false in documents.
  bool opens = false;
};

// Comments in C++, CUDA, protobuf, TypeScript and CSS; comments in shell, CMake, YAML and Python,
// including Python's docstrings; every line of a Markdown document. Text inside literals is not a
// comment.
std::vector<CommentLine> CommentsOf(const SourceFile& file);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_COMMENTS_H_
