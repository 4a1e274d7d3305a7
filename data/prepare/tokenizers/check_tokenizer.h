// Compares the tokenizer of a data set with its description.
#ifndef TRAINYARD_DATA_PREPARE_TOKENIZERS_CHECK_TOKENIZER_H_
#define TRAINYARD_DATA_PREPARE_TOKENIZERS_CHECK_TOKENIZER_H_

#include <string>
#include <vector>

#include "data/tokens/dataset_description.h"

namespace trainyard::data {

struct TokenizerCheck {
  std::string text;  // the name of the tokenizer and the result
  // The text of documents can contain the token that ends documents.
  bool marks_in_text = false;
  std::vector<std::string> problems;  // a line per problem, with the file and the next step
};

// Reads tokenizer.json and the files that it names. Checks the size of the vocabulary, the token
// that ends documents, and that the files have the fingerprint of the description. Data sets of
// older versions have no fingerprint.
TokenizerCheck CheckTokenizerFiles(const std::string& directory,
                                   const DatasetDescription& description);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_TOKENIZERS_CHECK_TOKENIZER_H_
