// Sends the report of the data set to the controller, after each step that changes it.
#ifndef TRAINYARD_DATA_PIPELINE_REPORT_SENDER_H_
#define TRAINYARD_DATA_PIPELINE_REPORT_SENDER_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/pipeline/pass_runner.h"
#include "data/pipeline/pipeline.h"
#include "data/prepare/views/report_texts.h"

namespace trainyard::data {

class ReportSender {
 public:
  explicit ReportSender(const RunContext& context) : context_(context) {}

  // Sends the report of a finished step, with texts. A report above kMaxDataReportBytes is sent
  // without texts. If that is too long or if the report cannot be read, prints the reason and sends
  // nothing: the run does not depend on reports.
  void Send(const PipelineStep& step);

 private:
  // The report without and with texts.
  nlohmann::ordered_json DocumentOf(const ChainReport& report) const;
  std::string TextOf(const ChainReport& report);
  // The tokenizers of the pipeline that exist already, and GPT-2's.
  std::vector<ReportTokenizer> Tokenizers() const;

  const RunContext context_;
  // The texts of the steps that were read, by plan.
  std::map<std::string, nlohmann::ordered_json> texts_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_REPORT_SENDER_H_
