// The string literals of a source file, and the text between the tags of TSX.
#ifndef TRAINYARD_TESTS_TIDY_LITERALS_H_
#define TRAINYARD_TESTS_TIDY_LITERALS_H_

#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace trainyard::tidy {

struct Literal {
  int line = 0;  // Line of its first character, from 1.
  // Without quotes. Escapes other than \n are unchanged. A value in a template literal is "…".
  std::string text;
};

// Literals of C++, CUDA and TypeScript in file order. Adjacent C++ literals are one literal, and so
// are TypeScript literals joined by "+". Character literals and include paths are left out. For TSX
// files the text of elements is included; a value in braces separates two texts.
std::vector<Literal> LiteralsOf(const SourceFile& file);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_LITERALS_H_
