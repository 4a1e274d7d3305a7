// Names of the environment variables set by a worker for each rank.
#ifndef TRAINYARD_PROTO_CONTRACT_ENVIRONMENT_H_
#define TRAINYARD_PROTO_CONTRACT_ENVIRONMENT_H_

#include <array>
#include <string_view>

namespace trainyard::environment {

// torchrun's names.
inline constexpr char kRank[] = "RANK";
inline constexpr char kWorldSize[] = "WORLD_SIZE";
inline constexpr char kLocalRank[] = "LOCAL_RANK";
inline constexpr char kLocalWorldSize[] = "LOCAL_WORLD_SIZE";
inline constexpr char kGroupRank[] = "GROUP_RANK";  // Position of the node in the gang.
inline constexpr char kGroupWorldSize[] = "GROUP_WORLD_SIZE";
inline constexpr char kNodeRank[] = "NODE_RANK";  // PyTorch Lightning's name of GROUP_RANK.
inline constexpr char kMasterAddress[] = "MASTER_ADDR";
inline constexpr char kMasterPort[] = "MASTER_PORT";
inline constexpr std::array<std::string_view, 9> kTorchrunVariables = {
    kRank,           kWorldSize, kLocalRank,     kLocalWorldSize, kGroupRank,
    kGroupWorldSize, kNodeRank,  kMasterAddress, kMasterPort};
// Further names of torchrun. A job may set these variables itself.
inline constexpr char kRoleRank[] = "ROLE_RANK";
inline constexpr char kRoleWorldSize[] = "ROLE_WORLD_SIZE";
inline constexpr char kRoleName[] = "ROLE_NAME";
inline constexpr char kRestartCount[] = "TORCHELASTIC_RESTART_COUNT";
inline constexpr char kMaxRestarts[] = "TORCHELASTIC_MAX_RESTARTS";
inline constexpr char kRunId[] = "TORCHELASTIC_RUN_ID";
// "False": rank 0 opens the rendezvous itself, and does not use a store of torchrun.
inline constexpr char kUseAgentStore[] = "TORCHELASTIC_USE_AGENT_STORE";
inline constexpr char kErrorFile[] = "TORCHELASTIC_ERROR_FILE";  // Path of the program's error.

// For a launcher, which starts several ranks: number of launchers of the job, and number of ranks
// of this launcher.
inline constexpr char kNodes[] = "NNODES";
inline constexpr char kProcessesPerNode[] = "NPROC_PER_NODE";
// torchrun reads each of its options also from a variable with this prefix.
inline constexpr char kTorchrunOptionPrefix[] = "PET_";

// Network interfaces of PyTorch's Gloo and of NCCL. A job may set these variables itself.
inline constexpr char kGlooInterface[] = "GLOO_SOCKET_IFNAME";
inline constexpr char kNcclInterface[] = "NCCL_SOCKET_IFNAME";

// The GPUs of the job's slots. If a program changed these variables, it would use the GPUs of other
// jobs.
inline constexpr char kCudaDevices[] = "CUDA_VISIBLE_DEVICES";
inline constexpr char kNvidiaDevices[] = "NVIDIA_VISIBLE_DEVICES";

// The reserved prefix of Trainyard's own variables. Jobs cannot set such variables.
inline constexpr char kReservedPrefix[] = "TRAINYARD_";
inline constexpr char kJobId[] = "TRAINYARD_JOB_ID";
inline constexpr char kJobName[] = "TRAINYARD_JOB_NAME";
// Index of the element within its array. Part of the spec of an element, and set only there.
inline constexpr char kArrayIndex[] = "TRAINYARD_ARRAY_INDEX";
inline constexpr char kAttempt[] = "TRAINYARD_ATTEMPT";
inline constexpr char kRunDir[] = "TRAINYARD_RUN_DIR";
inline constexpr char kCodeDir[] = "TRAINYARD_CODE_DIR";     // Directory of the job's code.
inline constexpr char kSpec[] = "TRAINYARD_SPEC";            // Path of the job file as JSON.
inline constexpr char kTelemetry[] = "TRAINYARD_TELEMETRY";  // Path of the telemetry file.
inline constexpr char kCheckpointDir[] = "TRAINYARD_CHECKPOINT_DIR";
inline constexpr char kResumeFrom[] = "TRAINYARD_RESUME_FROM";  // Path; empty to start from step 0.
inline constexpr char kLrFactor[] = "TRAINYARD_LR_FACTOR";      // Scales learning rate; default 1.
// Excludes bad checkpoints, in the format "attempt:step,attempt:step". Each pair excludes the
// checkpoints that the pair's attempt, or an older attempt, saved at the pair's step or later.
inline constexpr char kRolledBack[] = "TRAINYARD_ROLLED_BACK";
// The ids of other unfinished jobs, such as "3,17". The rank's job must not use checkpoint
// directories that those jobs have claimed.
inline constexpr char kLiveJobs[] = "TRAINYARD_LIVE_JOBS";
// The path of the order file. After the loss of a peer, a rank reads from this file how to continue
// without a restart. If the variable is unset, healing is off.
inline constexpr char kHeal[] = "TRAINYARD_HEAL";
// The number of seconds that a rank waits for an order after the loss of a peer.
inline constexpr char kHealWait[] = "TRAINYARD_HEAL_WAIT";
inline constexpr char kStandby[] = "TRAINYARD_STANDBY";  // "1" if this process is a standby.
inline constexpr char kSkipSamples[] = "TRAINYARD_SKIP_SAMPLES";  // "a:b,c:d" means [a, b), [c, d).

}  // namespace trainyard::environment

#endif  // TRAINYARD_PROTO_CONTRACT_ENVIRONMENT_H_
