// Texts of documents for the report of a data set.
#ifndef TRAINYARD_DATA_PREPARE_VIEWS_REPORT_TEXTS_H_
#define TRAINYARD_DATA_PREPARE_VIEWS_REPORT_TEXTS_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/report/chain.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// A tokenizer and its name for the user.
struct ReportTokenizer {
  std::string source;
  std::unique_ptr<Tokenizer> tokenizer;
};

// Returns "texts" of a run (data/report/README.md): the beginnings of dropped documents and of
// duplicates. Documents that cannot be read again within a limited time are omitted. Null for token
// files.
nlohmann::ordered_json TextsOfStep(const StepReport& step);

// Returns "tokenized": the beginnings of up to three documents of the data set, with the pieces of
// each tokenizer. Empty if no document can be read.
nlohmann::ordered_json TokenizedTexts(const ChainReport& report,
                                      const std::vector<ReportTokenizer>& tokenizers);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_VIEWS_REPORT_TEXTS_H_
