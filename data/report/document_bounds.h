// Finds the beginnings of documents in a sequence of tokens.
#ifndef TRAINYARD_DATA_REPORT_DOCUMENT_BOUNDS_H_
#define TRAINYARD_DATA_REPORT_DOCUMENT_BOUNDS_H_

#include <cstdint>

#include "data/tokens/output_format.h"

namespace trainyard::data {

class DocumentBounds {
 public:
  explicit DocumentBounds(const DocumentMarks& marks) : marks_(marks) {}

  // Returns true if the token is the first one of a document. Call for each token, in order. The
  // first token of a file always begins a document.
  bool Begins(uint32_t id) {
    const bool begins = is_first_ || (marks_.after ? ended_ : id == marks_.before);
    is_first_ = false;
    ended_ = marks_.after && id == *marks_.after;
    return begins;
  }

 private:
  const DocumentMarks marks_;
  bool is_first_ = true;
  bool ended_ = false;  // whether the last token ended a document
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_DOCUMENT_BOUNDS_H_
