// The string literals of a source file, and the text between the tags of TSX.
#ifndef TRAINYARD_TESTS_TIDY_LITERALS_H_
#define TRAINYARD_TESTS_TIDY_LITERALS_H_

#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace trainyard::tidy {

struct Literal {
  int line = 0;  // Line of the first character, from 1.
  // The text without quotes. Escapes other than \n are unchanged. Each value in a template literal
  // is replaced by "…".
  std::string text;
};

// Returns the literals of a C++, CUDA or TypeScript file in file order. Adjacent C++ literals count
// as one literal, and so do TypeScript literals joined by "+". Character literals and include paths
// are left out. In TSX files, the text of elements counts as a literal; a value in braces separates
// two texts.
std::vector<Literal> LiteralsOf(const SourceFile& file);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_LITERALS_H_
