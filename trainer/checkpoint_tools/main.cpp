// trainyard-ckpt, the program that runs `trainyard ckpt verify`, `diff`, `reshard`, `import` and
// `export`. It is a separate program because reading checkpoints needs LibTorch, and LibTorch's
// protobuf conflicts with the command line's protobuf.
#include <signal.h>

#include <atomic>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "trainer/checkpoint_tools/commands/command_line.h"
#include "trainer/checkpoint_tools/commands/diff_report.h"
#include "trainer/checkpoint_tools/commands/readable_text.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Exit codes that the trainer does not have. diff(1) and `trainyard` use the same two codes.
constexpr int kDiffer = 1;
constexpr int kUsageOfTrainyard = 2;
constexpr int kInterrupted = 130;

// Set by a signal handler. This is safe, because the variable is lock-free.
std::atomic<bool> is_cancelled = false;

// Makes the first Ctrl-C cancel the command. A second Ctrl-C ends the process immediately.
void CancelOnSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { is_cancelled = true; };
  action.sa_flags = SA_RESETHAND;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

// Runs a command: one function per kind of command. Each function returns the exit code.
struct Runner {
  int operator()(const Answer& answer) const {
    std::cout << answer.text;
    return 0;
  }

  int operator()(const VerifyOptions& options) const {
    return static_cast<int>(VerifyCheckpoints(options, std::cout));
  }

  int operator()(const DiffCommand& command) const {
    const CheckpointDiff diff = DiffCheckpoints(command.options);
    if (command.json) {
      std::cout << DiffJson(diff, command.options).dump(2) << "\n";
    } else {
      std::cout << DiffText(diff, command.options, command.all_tensors);
    }
    return diff.IsWithin(command.options.tolerance) ? 0 : kDiffer;
  }

  int operator()(const ReshardOptions& options) const {
    CancelOnSignals();
    const ReshardSummary summary = Reshard(options, is_cancelled);
    std::cout << options.to << ": step " << summary.step << ", "
              << CountText(summary.tensors, "tensor") << " in " << CountText(summary.files, "file")
              << " of " << BytesText(summary.bytes) << "\n";
    return 0;
  }

  int operator()(const ImportOptions& options) const {
    CancelOnSignals();
    std::cout << JobFileText(Import(options, is_cancelled), options);
    return 0;
  }

  int operator()(const ExportOptions& options) const {
    CancelOnSignals();
    const ExportSummary summary = Export(options, is_cancelled);
    std::cout << options.to << ": step " << summary.step << " as " << summary.architecture << ", "
              << CountText(summary.tensors, "tensor") << " in " << CountText(summary.files, "file")
              << " of " << BytesText(summary.bytes) << "\n";
    return 0;
  }
};

int ExitCodeOf(ExitCode code) {
  if (code == ExitCode::kUsage) return kUsageOfTrainyard;
  if (code == ExitCode::kTerminated) return kInterrupted;
  return static_cast<int>(code);
}

int Fail(const std::string& message, ExitCode code) {
  std::cout << std::flush;
  std::cerr << "error: " << message.substr(0, message.find('\n')) << std::endl;
  return ExitCodeOf(code);
}

int Main(const std::vector<std::string>& arguments) {
  try {
    const int code = std::visit(Runner(), ParseCheckpointCommand(arguments));
    if (!std::cout.flush()) return Fail("the output could not be written", ExitCode::kCannotWrite);
    return code;
  } catch (const TrainerError& error) {
    return Fail(error.what(), error.code());
  } catch (const std::exception& error) {
    return Fail(std::string("internal error: ") + error.what(), ExitCode::kInternal);
  }
}

}  // namespace
}  // namespace trainyard::trainer

int main(int argc, char** argv) {
  return trainyard::trainer::Main(std::vector<std::string>(argv + 1, argv + argc));
}
