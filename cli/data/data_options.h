// The options of the commands of `trainyard data`.
#ifndef TRAINYARD_CLI_DATA_DATA_OPTIONS_H_
#define TRAINYARD_CLI_DATA_DATA_OPTIONS_H_

#include <string>
#include <vector>

#include "data/prepare/command/prepare_options.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

// Each Add function adds the options of a command to `app`. Parsing the command line stores their
// values in `options`. Each Line function returns the command line of trainyard-data for the
// options. Its first word is `program`.

void AddPrepareOptions(CLI::App& app, data::PrepareOptions* options);
std::vector<std::string> PrepareLine(const std::string& program,
                                     const data::PrepareOptions& options);

void AddVerifyOptions(CLI::App& app, data::VerifyOptions* options);
std::vector<std::string> VerifyLine(const std::string& program, const data::VerifyOptions& options);

void AddInspectOptions(CLI::App& app, data::InspectOptions* options);
std::vector<std::string> InspectLine(const std::string& program,
                                     const data::InspectOptions& options);

void AddCountOptions(CLI::App& app, data::CountOptions* options);
std::vector<std::string> CountLine(const std::string& program, const data::CountOptions& options);

void AddTrainTokenizerOptions(CLI::App& app, data::TrainTokenizerOptions* options);
std::vector<std::string> TrainTokenizerLine(const std::string& program,
                                            const data::TrainTokenizerOptions& options);

void AddFilterOptions(CLI::App& app, data::FilterOptions* options);
std::vector<std::string> FilterLine(const std::string& program, const data::FilterOptions& options);

void AddDedupOptions(CLI::App& app, data::DedupOptions* options);
std::vector<std::string> DedupLine(const std::string& program, const data::DedupOptions& options);

void AddDecontaminateOptions(CLI::App& app, data::DecontaminateOptions* options);
std::vector<std::string> DecontaminateLine(const std::string& program,
                                           const data::DecontaminateOptions& options);

void AddReportOptions(CLI::App& app, data::ReportOptions* options);
std::vector<std::string> ReportLine(const std::string& program, const data::ReportOptions& options);

void AddShowOptions(CLI::App& app, data::ShowOptions* options);
std::vector<std::string> ShowLine(const std::string& program, const data::ShowOptions& options);

void AddMixOptions(CLI::App& app, data::MixOptions* options);
std::vector<std::string> MixLine(const std::string& program, const data::MixOptions& options);

void AddRunOptions(CLI::App& app, data::PipelineOptions* options);
std::vector<std::string> RunLine(const std::string& program, const data::PipelineOptions& options);

// The command of trainyard-data that `trainyard documents` starts. Users do not call it.
inline constexpr char kStepCommand[] = "step-documents";
void AddStepOptions(CLI::App& app, data::StepDocumentsOptions* options);
std::vector<std::string> StepLine(const std::string& program,
                                  const data::StepDocumentsOptions& options);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_DATA_OPTIONS_H_
