// trainyard-data, the program behind `trainyard data prepare`. data_command.h explains why it is a
// separate program.
#include <signal.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>

#include "cli/data/data_command.h"
#include "cli/process/exit_code.h"
#include "data/prepare/prepare.h"

namespace {

using trainyard::cli::ExitCode;
using trainyard::data::PrepareOptions;

// Set by a signal handler, which is safe because the variable is lock-free.
std::atomic<bool> cancelled = false;

void CancelOnSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { cancelled = true; };
  action.sa_flags = SA_RESETHAND;  // a second Ctrl-C ends the process immediately
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

trainyard::data::Progress MakeProgress(const PrepareOptions& options) {
  trainyard::data::Progress::Settings settings;
  settings.is_terminal = isatty(STDERR_FILENO) == 1;
  settings.seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  if (!options.quiet) {
    settings.print = [](const std::string& text) { std::fputs(text.c_str(), stderr); };
  }
  return trainyard::data::Progress(settings);
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Convert text to tokens for the trainer", "trainyard-data");
  PrepareOptions options;
  trainyard::cli::AddPrepareOptions(app, &options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  CancelOnSignals();
  trainyard::data::Progress progress = MakeProgress(options);
  const auto summary = trainyard::data::PrepareData(options, &progress, cancelled);
  progress.Stop();
  if (!summary.ok()) {
    std::fprintf(stderr, "error: %s\n", std::string(summary.status().message()).c_str());
    return static_cast<int>(CodeOf(summary.status()));
  }
  std::fputs(trainyard::data::SummaryText(*summary).c_str(), stdout);
  return static_cast<int>(ExitCode::kOk);
}
