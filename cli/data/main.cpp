// trainyard-data, the program behind `trainyard data`. data_command.h explains why it is a
// separate program.
#include <signal.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "cli/data/data_command.h"
#include "cli/data/data_options.h"
#include "cli/process/exit_code.h"
#include "data/pipeline/ranks.h"
#include "data/pipeline/run_pipeline.h"
#include "data/prepare/cleaning/decontaminate_data.h"
#include "data/prepare/cleaning/dedup_data.h"
#include "data/prepare/cleaning/filter_data.h"
#include "data/prepare/splits/prepare.h"
#include "data/prepare/tokenizers/count.h"
#include "data/prepare/tokenizers/train_tokenizer.h"
#include "data/prepare/views/inspect.h"
#include "data/prepare/views/mix.h"
#include "data/prepare/views/report_data.h"
#include "data/prepare/views/show_data.h"
#include "data/prepare/views/step_documents.h"
#include "data/prepare/views/verify.h"

namespace {

using trainyard::cli::ExitCode;
using trainyard::data::Progress;

// Set by a signal handler, which is safe because the variable is lock-free.
std::atomic<bool> cancelled = false;

void CancelOnSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { cancelled = true; };
  action.sa_flags = SA_RESETHAND;  // a second Ctrl-C ends the process immediately
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

Progress MakeProgress(bool quiet) {
  Progress::Settings settings;
  settings.is_terminal = isatty(STDERR_FILENO) == 1;
  settings.seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  if (!quiet) {
    settings.print = [](const std::string& text) { std::fputs(text.c_str(), stderr); };
  }
  return Progress(settings);
}

ExitCode CodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kAlreadyExists:
      return ExitCode::kUsage;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kCancelled:
      return ExitCode::kInterrupted;
    default:
      return ExitCode::kFailed;
  }
}

// Returns the text to print, or an error.
using Command = std::function<absl::StatusOr<std::string>(Progress*)>;

int Run(bool quiet, const Command& command) {
  CancelOnSignals();
  Progress progress = MakeProgress(quiet);
  const absl::StatusOr<std::string> text = command(&progress);
  progress.Stop();
  if (!text.ok()) {
    std::fprintf(stderr, "error: %s\n", std::string(text.status().message()).c_str());
    return static_cast<int>(CodeOf(text.status()));
  }
  std::fputs(text->c_str(), stdout);
  return static_cast<int>(ExitCode::kOk);
}

absl::StatusOr<std::string> Prepare(const trainyard::data::PrepareOptions& options,
                                    Progress* progress) {
  const auto summary = trainyard::data::PrepareData(options, progress, cancelled);
  if (!summary.ok()) return summary.status();
  return trainyard::data::SummaryText(*summary);
}

absl::StatusOr<std::string> Count(const trainyard::data::CountOptions& options,
                                  Progress* progress) {
  const auto result = trainyard::data::CountTokens(options, progress, cancelled);
  if (!result.ok()) return result.status();
  return options.output == "json" ? trainyard::data::CountJson(*result)
                                  : trainyard::data::CountText(*result);
}

absl::StatusOr<std::string> Inspect(const trainyard::data::InspectOptions& options,
                                    Progress* progress) {
  const auto result = trainyard::data::InspectFiles(options, progress, cancelled);
  if (!result.ok()) return result.status();
  return options.output == "json" ? trainyard::data::InspectJson(*result)
                                  : trainyard::data::InspectText(*result);
}

// Prints a line on stderr for each problem of the data set.
int Verify(const trainyard::data::VerifyOptions& options) {
  bool is_correct = true;
  const int code = Run(options.quiet, [&](Progress* progress) -> absl::StatusOr<std::string> {
    const auto report = trainyard::data::VerifyDataset(options, progress, cancelled);
    if (!report.ok()) return report.status();
    is_correct = report->problems.empty();
    for (const std::string& problem : report->problems) {
      std::fprintf(stderr, "error: %s\n", problem.c_str());
    }
    return report->text;
  });
  return is_correct ? code : static_cast<int>(ExitCode::kFailed);
}

absl::StatusOr<std::string> Train(const trainyard::data::TrainTokenizerOptions& options,
                                  Progress* progress) {
  const auto summary = trainyard::data::TrainTokenizer(options, progress, cancelled);
  if (!summary.ok()) return summary.status();
  return trainyard::data::TrainedText(*summary);
}

absl::StatusOr<std::string> Filter(const trainyard::data::FilterOptions& options,
                                   Progress* progress) {
  const auto summary = trainyard::data::FilterData(options, progress, cancelled);
  if (!summary.ok()) return summary.status();
  return trainyard::data::FilterText(*summary);
}

absl::StatusOr<std::string> Dedup(const trainyard::data::DedupOptions& options,
                                  Progress* progress) {
  const auto summary = trainyard::data::DedupData(options, progress, cancelled);
  if (!summary.ok()) return summary.status();
  return trainyard::data::DedupText(*summary);
}

absl::StatusOr<std::string> Decontaminate(const trainyard::data::DecontaminateOptions& options,
                                          Progress* progress) {
  const auto summary = trainyard::data::DecontaminateData(options, progress, cancelled);
  if (!summary.ok()) return summary.status();
  return trainyard::data::DecontaminateText(*summary);
}

absl::StatusOr<std::string> Show(const trainyard::data::ShowOptions& options) {
  const auto document = trainyard::data::ShowDocument(options);
  if (!document.ok()) return document.status();
  return options.output == "json" ? trainyard::data::ShownJson(*document, options)
                                  : trainyard::data::ShownText(*document, options);
}

absl::StatusOr<std::string> ShowStep(const trainyard::data::StepDocumentsOptions& options) {
  const auto documents = trainyard::data::FindStepDocuments(options, cancelled);
  if (!documents.ok()) return documents.status();
  return options.output == "json" ? trainyard::data::StepJson(*documents, options)
                                  : trainyard::data::StepText(*documents, options);
}

absl::StatusOr<std::string> Mix(const trainyard::data::MixOptions& options) {
  const auto result = trainyard::data::MixData(options);
  if (!result.ok()) return result.status();
  return trainyard::data::MixText(*result);
}

// Exit codes are those of the contract with the worker if a worker or torchrun has started the
// process.
int RunSteps(const trainyard::data::PipelineOptions& options) {
  const absl::StatusOr<trainyard::data::Ranks> ranks =
      trainyard::data::ReadRanks([](const char* name) { return std::getenv(name); });
  absl::Status status = ranks.status();
  const int code = Run(options.quiet, [&](Progress* progress) -> absl::StatusOr<std::string> {
    if (!ranks.ok()) return ranks.status();
    auto summary = trainyard::data::RunPipeline(options, *ranks, progress, cancelled);
    status = summary.status();
    return summary;
  });
  const bool is_rank = !ranks.ok() || ranks->is_rank;
  return is_rank ? trainyard::data::ExitCodeOfRank(status) : code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Convert text to tokens for the trainer", "trainyard-data");
  app.require_subcommand(1);
  trainyard::cli::DataOptions options;
  trainyard::cli::AddDataCommands(app, &options);
  trainyard::data::StepDocumentsOptions step;
  // An empty group hides the command from the help.
  trainyard::cli::AddStepOptions(*app.add_subcommand(trainyard::cli::kStepCommand)->group(""),
                                 &step);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  if (app.got_subcommand("prepare")) {
    return Run(options.prepare.quiet,
               [&](Progress* progress) { return Prepare(options.prepare, progress); });
  }
  if (app.got_subcommand("count")) {
    return Run(options.count.quiet,
               [&](Progress* progress) { return Count(options.count, progress); });
  }
  if (app.got_subcommand("filter")) {
    return Run(options.filter.quiet,
               [&](Progress* progress) { return Filter(options.filter, progress); });
  }
  if (app.got_subcommand("dedup")) {
    return Run(options.dedup.quiet,
               [&](Progress* progress) { return Dedup(options.dedup, progress); });
  }
  if (app.got_subcommand("mix")) {
    return Run(/*quiet=*/true, [&](Progress*) { return Mix(options.mix); });
  }
  if (app.got_subcommand("inspect")) {
    return Run(options.inspect.quiet,
               [&](Progress* progress) { return Inspect(options.inspect, progress); });
  }
  if (app.got_subcommand("verify")) return Verify(options.verify);
  if (app.got_subcommand("decontaminate")) {
    return Run(options.decontaminate.quiet,
               [&](Progress* progress) { return Decontaminate(options.decontaminate, progress); });
  }
  if (app.got_subcommand("report")) {
    return Run(true, [&](Progress*) { return trainyard::data::ReportData(options.report); });
  }
  if (app.got_subcommand("show")) {
    return Run(true, [&](Progress*) { return Show(options.show); });
  }
  if (app.got_subcommand(trainyard::cli::kStepCommand)) {
    return Run(true, [&](Progress*) { return ShowStep(step); });
  }
  if (app.got_subcommand("run")) return RunSteps(options.run);
  return Run(options.train_tokenizer.quiet,
             [&](Progress* progress) { return Train(options.train_tokenizer, progress); });
}
