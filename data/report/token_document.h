// Finds a document in the token files of a data set.
#ifndef TRAINYARD_DATA_REPORT_TOKEN_DOCUMENT_H_
#define TRAINYARD_DATA_REPORT_TOKEN_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/tokens/dataset_description.h"

namespace trainyard::data {

struct TokenDocument {
  // A longer document is an error, because its ids must fit into memory.
  static constexpr size_t kTokensMax = size_t{64} << 20;

  std::string split;          // "train" or "val"
  int64_t number = 0;         // in the split, from 1
  int64_t first_token = 0;    // position in the split, from 0, of the document or its begin token
  std::vector<uint32_t> ids;  // without the tokens that begin and end documents
};

// `name`: "N" or "train:N" for the N-th document, counted from 1; "train@T" for the document that
// contains the token at position T, counted from 0; "val:N" and "val@T" for the validation split.
// Reads the split from its start to the document. A token that ends documents and occurs in the
// text divides its document. Returns InvalidArgument for other names, NotFound if there is no such
// document, and DataLoss for unreadable files.
absl::StatusOr<TokenDocument> FindTokenDocument(const std::string& directory,
                                                const DatasetDescription& description,
                                                const std::string& name);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_TOKEN_DOCUMENT_H_
