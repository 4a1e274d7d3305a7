#include "trainer/command_line.h"

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

constexpr char kHelp[] =
    R"(trainyard-trainer: trains one model as one rank of a gang, or alone.

  trainyard-trainer --config run.json [--resume]

  --config FILE    settings of the run, in the form of a job's spec.json (else TRAINYARD_SPEC)
  --resume         go on from the newest checkpoint in the checkpoint directory, if there is one
  --print-config   print the resolved settings and leave
  --version        print the version and leave
  --help           print this and leave

Ranks of a gang are told who they are by torchrun's variables (RANK, WORLD_SIZE, LOCAL_RANK,
LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT). SIGTERM saves a checkpoint and leaves with 143; SIGUSR1
saves one and goes on. Exit codes: 0 done, 64 bad command line, 65 bad data, 66 input missing,
69 lost a peer, 70 internal error, 73 cannot write, 74 cannot read the checkpoint to start from,
75 try again, 77 fenced by a newer attempt, 78 bad settings.
)";

}  // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv) {
  CommandLine command;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      command.answer = kHelp;
    } else if (flag == "--version") {
      command.answer = "trainyard-trainer " TRAINYARD_VERSION "\n";
    } else if (flag == "--print-config") {
      command.print_config = true;
    } else if (flag == "--resume") {
      command.resume = true;
    } else if (flag == "--config" && i + 1 < argc) {
      command.config_path = argv[++i];
    } else if (flag.starts_with("--config=")) {
      command.config_path = flag.substr(std::string("--config=").size());
    } else {
      throw TrainerError(ExitCode::kUsage, flag == "--config"
                                               ? "--config needs a file; see --help."
                                               : "Unknown argument `" + flag + "`; see --help.");
    }
  }
  return command;
}

}  // namespace trainyard::trainer
