#include "data/prepare/splits/summary.h"

#include <algorithm>
#include <cstdio>

#include "data/prepare/command/progress.h"

namespace trainyard::data {
namespace {

// Returns the rows about unusual input; "" if there was none.
std::string LinesText(const DataSummary& summary) {
  std::string text;
  if (!summary.bad_lines.empty()) {
    text += "bad lines    " + summary.bad_lines + "; see bad.jsonl\n";
  }
  if (summary.repaired > 0) {
    text += "not UTF-8    replaced by U+FFFD in " + ReadableCount(summary.repaired) +
            " lines or blocks of text\n";
  }
  if (summary.special_documents > 0) {
    text += "special text " + ReadableCount(summary.special_documents) +
            " documents contain special tokens, encoded as " +
            (summary.special_text == "id" ? "their ids" : "text") + "\n";
  }
  return text;
}

// The trainer detects the other formats.
std::string FormatText(const DataSummary& summary) {
  return summary.format == "nanogpt" ? " --set data.format=nanogpt" : "";
}

}  // namespace

std::string SummaryText(const DataSummary& summary) {
  const int64_t tokens = summary.train.tokens + summary.val.tokens;
  const int64_t bytes = summary.train.source_bytes + summary.val.source_bytes;
  char ratios[160];
  std::snprintf(ratios, sizeof(ratios),
                "bytes/token  %.2f\n"
                "entropy      %.3f nats/token: the loss of a unigram model\n",
                static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(tokens, 1)),
                summary.train.unigram_entropy);
  return "data set     " + summary.directory + "\n" +                                      //
         "documents    " + ReadableCount(summary.train.documents) + " train, " +           //
         ReadableCount(summary.val.documents) + " val, from " +                            //
         ReadableCount(summary.files) + " files\n" +                                       //
         "text         " + ReadableBytes(bytes) + "\n" +                                   //
         LinesText(summary) +                                                              //
         "tokens       " + ReadableCount(summary.train.tokens) + " train, " +              //
         ReadableCount(summary.val.tokens) + " val\n" +                                    //
         "tokenizer    " + summary.tokenizer + ", " + ReadableCount(summary.vocab_size) +  //
         " token ids\n" + ratios +                                                         //
         "next         trainyard submit JOB.yaml --set data.path=" + summary.directory +   //
         FormatText(summary) + " --set model.vocab_size=" + std::to_string(summary.vocab_size) +
         "\n";
}

}  // namespace trainyard::data
