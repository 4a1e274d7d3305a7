#include "trainer/process/command_line.h"

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

constexpr char kHelp[] =
    R"(trainyard-trainer: trains one model as one rank of a gang, or alone.

  trainyard-trainer --config run.json [--resume]

  --config FILE    settings of the run, in the format of a job's spec.json (default: TRAINYARD_SPEC)
  --resume         resume from the newest checkpoint in the checkpoint directory, if there is one
  --print-config   print the resolved settings and exit
  --verify-checkpoint DIR
                   read every byte of a checkpoint (or of the newest one in a checkpoint directory),
                   report its faults, and exit: 0 if it is sound, else 74
  --verify-data DIR
                   read every byte of token files, report their faults, and exit: 0 if they are
                   sound, else 65
  --tune FILE      measure the matrix products of these settings on the GPU, and write the fastest
                   algorithms to FILE, for trainer/kernels/gemm_tables; see
                   trainer/kernels/README.md
  --version        print the version and exit
  --help           print this and exit

Ranks of a gang are identified by torchrun's variables (RANK, WORLD_SIZE, LOCAL_RANK,
LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT). SIGTERM saves a checkpoint and exits with 143; SIGUSR1
saves a checkpoint and continues.

Exit codes: 0 done, 64 bad command line, 65 bad data, 66 input missing, 69 lost a peer, 70 internal
error, 71 the device computes wrong results, 73 cannot write, 74 cannot read the checkpoint to start
from, 75 try again, 76 loss not finite, 77 fenced by a newer attempt, 78 bad settings.
)";

// Parses `--name VALUE` or `--name=VALUE` at argv[i]. Sets i to the last argument that belongs to
// the flag. Returns false if argv[i] is another flag.
bool TakeValue(const std::string& name, const char* what, int argc, const char* const* argv, int& i,
               std::string& value) {
  const std::string flag = argv[i];
  if (flag.starts_with(name + "=")) {
    value = flag.substr(name.size() + 1);
  } else if (flag == name && i + 1 < argc) {
    value = argv[++i];
  } else if (flag != name) {
    return false;
  }
  if (value.empty()) {
    throw TrainerError(ExitCode::kUsage, name + " needs a " + what + "; see --help.");
  }
  return true;
}

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
    } else if (!TakeValue("--config", "file", argc, argv, i, command.config_path) &&
               !TakeValue("--verify-checkpoint", "directory", argc, argv, i,
                          command.verify_checkpoint) &&
               !TakeValue("--tune", "file", argc, argv, i, command.tune) &&
               !TakeValue("--verify-data", "directory", argc, argv, i, command.verify_data)) {
      throw TrainerError(ExitCode::kUsage, "Unknown argument `" + flag + "`; see --help.");
    }
  }
  return command;
}

}  // namespace trainyard::trainer
