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

// The slots of the job; other values would use the GPUs of other jobs.
inline constexpr char kCudaDevices[] = "CUDA_VISIBLE_DEVICES";
inline constexpr char kNvidiaDevices[] = "NVIDIA_VISIBLE_DEVICES";

// Trainyard's own names. The prefix is reserved.
inline constexpr char kReservedPrefix[] = "TRAINYARD_";
inline constexpr char kJobId[] = "TRAINYARD_JOB_ID";
inline constexpr char kJobName[] = "TRAINYARD_JOB_NAME";
inline constexpr char kAttempt[] = "TRAINYARD_ATTEMPT";
inline constexpr char kRunDir[] = "TRAINYARD_RUN_DIR";
inline constexpr char kSpec[] = "TRAINYARD_SPEC";            // Path of the job file as JSON.
inline constexpr char kTelemetry[] = "TRAINYARD_TELEMETRY";  // Path of the telemetry file.
inline constexpr char kCheckpointDir[] = "TRAINYARD_CHECKPOINT_DIR";
inline constexpr char kResumeFrom[] = "TRAINYARD_RESUME_FROM";  // Path; empty for a fresh start.
inline constexpr char kLrFactor[] = "TRAINYARD_LR_FACTOR";      // Learning rate factor; 1 if unset.
// "attempt:step,attempt:step": checkpoints saved by that attempt or an older one at that step or
// later are bad.
inline constexpr char kRolledBack[] = "TRAINYARD_ROLLED_BACK";
// "3,17": other unfinished jobs; this job must not use the checkpoint directories they have
// claimed.
inline constexpr char kLiveJobs[] = "TRAINYARD_LIVE_JOBS";
// Path of the order file for continuing in place after the loss of a peer; healing is off if unset.
inline constexpr char kHeal[] = "TRAINYARD_HEAL";
// Seconds that a rank waits for an order after losing a peer.
inline constexpr char kHealWait[] = "TRAINYARD_HEAL_WAIT";
inline constexpr char kStandby[] = "TRAINYARD_STANDBY";  // "1": a spare waiting to replace a rank.
inline constexpr char kSkipSamples[] = "TRAINYARD_SKIP_SAMPLES";  // "a:b,c:d": ranges [a, b).

}  // namespace trainyard::environment

#endif  // TRAINYARD_PROTO_CONTRACT_ENVIRONMENT_H_
