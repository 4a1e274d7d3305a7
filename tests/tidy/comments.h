// Extracts the comments of a source file, and the prose of a document.
#ifndef TRAINYARD_TESTS_TIDY_COMMENTS_H_
#define TRAINYARD_TESTS_TIDY_COMMENTS_H_

#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace trainyard::tidy {

struct CommentLine {
  int line = 0;
  // Without the comment marker and surrounding spaces.
  std::string text;
  // True for the first line of a comment: code precedes the comment on its line, or the preceding
  // line is not a comment. Always false in documents.
  bool opens = false;
};

// Returns the comments of C++, CUDA, protobuf, TypeScript, CSS, shell, CMake, YAML and Python
// files, including Python's docstrings. In a Markdown document, every line counts as a comment.
// Text inside literals does not count.
std::vector<CommentLine> CommentsOf(const SourceFile& file);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_COMMENTS_H_
