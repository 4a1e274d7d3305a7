// The result of `trainyard data prepare` as text.
#ifndef TRAINYARD_DATA_PREPARE_SPLITS_SUMMARY_H_
#define TRAINYARD_DATA_PREPARE_SPLITS_SUMMARY_H_

#include <cstdint>
#include <string>

#include "data/tokens/token_writer.h"

namespace trainyard::data {

struct DataSummary {
  std::string directory;  // absolute
  int64_t files = 0;
  std::string format = "trainyard";
  std::string tokenizer;  // name
  int64_t vocab_size = 0;
  SplitTotals train;
  SplitTotals val;
  std::string bad_lines;  // BadLineLog::Summary; empty if there are none
  // Documents that contain the text of a special token, and how it was encoded: "text" or "id".
  int64_t special_documents = 0;
  std::string special_text;
  int64_t repaired = 0;  // lines and blocks of text with replaced bytes
};

// Returns a summary for the user, including the command to run next. It ends with a newline.
std::string SummaryText(const DataSummary& summary);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_SPLITS_SUMMARY_H_
