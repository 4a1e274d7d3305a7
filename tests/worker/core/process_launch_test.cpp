#include "worker/core/process_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/worker/core/action_text.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;

v1::StartAttempt Command() {
  v1::StartAttempt command = StartOf(7, 3, 2);
  command.set_job_name("tiny");
  command.set_world_size(4);
  command.set_node_rank(1);
  command.set_node_count(2);
  command.mutable_processes(0)->mutable_ranks(0)->set_rank(2);
  command.mutable_processes(1)->mutable_ranks(0)->set_rank(3);
  command.set_master_address("10.0.0.1");
  command.set_master_port(29500);
  command.set_checkpoint_dir("/ck");
  command.set_resume_from("/ck/step_000000100");
  command.set_skip_samples("5:9");
  command.set_lr_factor(0.1);
  command.set_rolled_back("1:90");
  command.set_live_jobs("3,17");
  return command;
}

LaunchSite Site() {
  LaunchSite site;
  site.run_dir = "/data/rank3";
  site.spec_path = "/data/rank3/spec.json";
  site.telemetry_path = "/data/rank3/telemetry.jsonl";
  site.heal_path = "/data/rank3/heal.json";
  site.error_path = "/data/rank3/error.json";
  site.trainer_program = "/opt/bin/trainyard-trainer";
  site.data_program = "/opt/bin/trainyard-data";
  site.worker_environment = {{"PATH", "/bin"}, {"HOME", "/root"}, {"SECRET", "x"}};
  site.inventory.set_cpu_cores(8);
  return site;
}

void AddSlot(v1::Inventory& inventory, v1::DeviceKind kind, const std::string& uuid) {
  v1::Slot& slot = *inventory.add_slots();
  slot.set_index(inventory.slots_size() - 1);
  slot.set_kind(kind);
  slot.set_uuid(uuid);
}

TEST(ProcessLaunchTest, RanksOfAJobWithSparesAwaitOrders) {
  v1::StartAttempt command = Command();
  EXPECT_EQ(
      MakeProcessLaunch(command, command.processes(1), Site()).environment.count("TRAINYARD_HEAL"),
      0u);
  command.mutable_spec()->mutable_restart()->set_spares(1);
  ProcessLaunch launch = MakeProcessLaunch(command, command.processes(1), Site());
  EXPECT_EQ(launch.environment.at("TRAINYARD_HEAL"), "/data/rank3/heal.json");
  EXPECT_EQ(launch.environment.count("TRAINYARD_STANDBY"), 0u);
  command.mutable_processes(1)->set_standby(true);
  command.mutable_processes(1)->mutable_ranks(0)->set_rank(5);
  launch = MakeProcessLaunch(command, command.processes(1), Site());
  EXPECT_EQ(launch.environment.at("TRAINYARD_STANDBY"), "1");
  EXPECT_EQ(launch.environment.at("RANK"), "0") << "below WORLD_SIZE";
}

// Two launchers on each of two nodes, each with two ranks. This is the second one of the second
// node.
TEST(ProcessLaunchTest, ALauncherFindsItsPeersAndSeesItsOwnDevices) {
  v1::StartAttempt command = StartOf(7, 3, 4);
  command.set_world_size(8);
  command.set_node_rank(1);
  command.set_node_count(2);
  command.set_master_address("10.0.0.1");
  command.set_master_port(29500);
  v1::StartAttempt both = command;
  both.clear_processes();
  for (int i = 0; i < 4; ++i) {
    v1::Process& process = i % 2 == 0 ? *both.add_processes() : *both.mutable_processes(i / 2);
    process.add_slots(i);
    *process.add_ranks() = command.processes(i).ranks(0);
    process.mutable_ranks(i % 2)->set_rank(4 + i);
  }
  LaunchSite site = Site();
  for (const char* uuid : {"GPU-0", "GPU-1", "GPU-2", "GPU-3"}) {
    AddSlot(site.inventory, v1::DEVICE_KIND_GPU, uuid);
  }
  const auto environment = MakeProcessLaunch(both, both.processes(1), site).environment;
  for (const std::string prefix : {"", "PET_"}) {
    EXPECT_EQ(environment.at(prefix + "NNODES"), "4");
    EXPECT_EQ(environment.at(prefix + "NODE_RANK"), "3");
    EXPECT_EQ(environment.at(prefix + "NPROC_PER_NODE"), "2");
    EXPECT_EQ(environment.at(prefix + "MASTER_ADDR"), "10.0.0.1");
    EXPECT_EQ(environment.at(prefix + "MASTER_PORT"), "29500");
  }
  EXPECT_EQ(environment.at("TORCHELASTIC_ERROR_FILE"), "/data/rank3/error.json");
  EXPECT_EQ(environment.at("CUDA_VISIBLE_DEVICES"), "GPU-2,GPU-3");
  EXPECT_EQ(environment.at("OMP_NUM_THREADS"), "2") << "8 cores for 4 ranks";
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"}) {
    EXPECT_FALSE(environment.contains(name)) << name << ": the launcher sets it for each rank";
  }
  both.mutable_spec()->add_command("torchrun");
  both.mutable_spec()->set_torchrun_env(false);
  EXPECT_FALSE(MakeProcessLaunch(both, both.processes(1), site).environment.contains("NNODES"));
}

TEST(ProcessLaunchTest, GlooAndNcclUseTheInterfaceOfTheWorker) {
  v1::StartAttempt command = Command();
  LaunchSite site = Site();
  EXPECT_FALSE(MakeProcessLaunch(command, command.processes(0), site)
                   .environment.contains("GLOO_SOCKET_IFNAME"))
      << "the interface is unknown";
  site.network_interface = "eth0";
  auto environment = MakeProcessLaunch(command, command.processes(0), site).environment;
  EXPECT_EQ(environment.at("GLOO_SOCKET_IFNAME"), "eth0");
  EXPECT_EQ(environment.at("NCCL_SOCKET_IFNAME"), "=eth0");
  (*command.mutable_spec()->mutable_env())["NCCL_SOCKET_IFNAME"] = "ib";
  command.mutable_spec()->add_unset_env("GLOO_SOCKET_IFNAME");
  environment = MakeProcessLaunch(command, command.processes(0), site).environment;
  EXPECT_EQ(environment.at("NCCL_SOCKET_IFNAME"), "ib");
  EXPECT_FALSE(environment.contains("GLOO_SOCKET_IFNAME"));
}

TEST(ProcessLaunchTest, SecretsAreVariablesButNeverTheContract) {
  const v1::StartAttempt command = Command();
  LaunchSite site = Site();
  site.secrets = {{"WANDB_API_KEY", "k"}, {"TRAINYARD_SPEC", "/etc/passwd"}};
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(1), site);
  EXPECT_EQ(launch.secrets.at("WANDB_API_KEY"), "k");
  EXPECT_EQ(launch.environment.count("WANDB_API_KEY"), 0u) << "start.json holds the environment";
  EXPECT_EQ(launch.secrets.count("TRAINYARD_SPEC"), 0u);
  EXPECT_EQ(launch.environment.at("TRAINYARD_SPEC"), "/data/rank3/spec.json");
}

TEST(ProcessLaunchTest, ASecretReplacesAVariableOfTheJob) {
  v1::StartAttempt command = Command();
  (*command.mutable_spec()->mutable_env())["WANDB_API_KEY"] = "of the job file";
  LaunchSite site = Site();
  site.secrets = {{"WANDB_API_KEY", "k"}};
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), site);
  EXPECT_FALSE(launch.environment.contains("WANDB_API_KEY"));
  ASSERT_TRUE(launch.secrets.contains("WANDB_API_KEY"));
  EXPECT_EQ(launch.secrets.at("WANDB_API_KEY"), "k");
}

TEST(ProcessLaunchTest, ValuesOfEnvNameVariablesOfTheRankAndOfTheNode) {
  v1::StartAttempt command = Command();
  auto& env = *command.mutable_spec()->mutable_env();
  env["PATH"] = "/opt/x:${PATH}";
  env["TMPDIR"] = "${TRAINYARD_RUN_DIR}/tmp";
  env["SCRATCH"] = "${NODE_SCRATCH:-/tmp}/${RANK}";
  env["OTHER"] = "$${PATH} ${SECRET}";
  LaunchSite site = Site();
  site.worker_environment["TRAINYARD_RUN_DIR"] = "/of/the/worker";
  ProcessLaunch launch = MakeProcessLaunch(command, command.processes(1), site);
  EXPECT_EQ(launch.problem, "");
  EXPECT_EQ(launch.environment.at("PATH"), "/opt/x:/bin");
  EXPECT_EQ(launch.environment.at("TMPDIR"), "/data/rank3/tmp");
  EXPECT_EQ(launch.environment.at("SCRATCH"), "/tmp/3");
  EXPECT_EQ(launch.environment.at("OTHER"), "${PATH} x");
  site.worker_environment["NODE_SCRATCH"] = "/nvme";
  launch = MakeProcessLaunch(command, command.processes(1), site);
  EXPECT_EQ(launch.environment.at("SCRATCH"), "/nvme/3");
}

TEST(ProcessLaunchTest, ValuesOfEnvNameNeitherEachOtherNorSecretsNorTheWorkersSettings) {
  LaunchSite site = Site();
  site.secrets["KEY"] = "k";
  site.worker_environment["TRAINYARD_TOKEN_FILE"] = "/etc/token";
  for (const char* name : {"KEY", "A", "TRAINYARD_TOKEN_FILE", "MISSING"}) {
    v1::StartAttempt command = Command();
    auto& env = *command.mutable_spec()->mutable_env();
    env["A"] = "1";
    env["B"] = absl::StrCat("${", name, "}");
    const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(1), site);
    EXPECT_THAT(launch.problem, testing::StartsWith(absl::StrCat(
                                    "`env.B` has no value on this node: variable ", name)));
  }
}

TEST(ProcessLaunchTest, AnEnvironmentIsPreparedBeforeTheProgram) {
  v1::StartAttempt command = Command();
  command.mutable_spec()->add_command("train");
  LaunchSite site = Site();
  site.worker_program = "/opt/bin/trainyard-worker";
  site.environment_dir = "/data/environments";
  EXPECT_THAT(MakeProcessLaunch(command, command.processes(0), site).argv, ElementsAre("train"));
  command.mutable_spec()->mutable_environment()->set_venv("/venv");
  EXPECT_THAT(
      MakeProcessLaunch(command, command.processes(0), site).argv,
      ElementsAre("/opt/bin/trainyard-worker", "environment", "--state-dir=/data/environments",
                  "--venv=/venv", "--setup-timeout=0", "--", "train"));
}

TEST(ProcessLaunchTest, ACommandOfAUserRunsInTheEnvironmentOfTheProcess) {
  v1::StartAttempt command = Command();
  LaunchSite site = Site();
  site.secrets["KEY"] = "k";
  v1::ExecCommand exec;
  exec.add_argv("nvidia-smi");
  ProcessLaunch launch = MakeExecLaunch(command, command.processes(1), site, exec);
  const ProcessLaunch process = MakeProcessLaunch(command, command.processes(1), site);
  EXPECT_THAT(launch.argv, ElementsAre("nvidia-smi"));
  EXPECT_EQ(launch.working_directory, process.working_directory);
  EXPECT_EQ(launch.secrets, process.secrets);
  auto expected = process.environment;
  EXPECT_EQ(expected.erase("TRAINYARD_TELEMETRY"), 1u) << "only the rank writes its records";
  expected.erase("TORCHELASTIC_ERROR_FILE");
  EXPECT_EQ(launch.environment, expected);

  site.worker_program = "/opt/bin/trainyard-worker";
  command.mutable_spec()->mutable_environment()->set_venv("/venv");
  command.mutable_spec()->mutable_environment()->add_setup("pip");
  exec.set_terminal(true);
  exec.set_terminal_type("xterm");
  launch = MakeExecLaunch(command, command.processes(0), site, exec);
  EXPECT_THAT(launch.argv,
              ElementsAre("/opt/bin/trainyard-worker", "environment", "--venv=/venv",
                          "--setup-timeout=0", "--interactive=", "--terminal=", "--", "nvidia-smi"))
      << "without setup and report";
  EXPECT_EQ(launch.environment.at("TERM"), "xterm");
  exec.clear_argv();
  launch = MakeExecLaunch(command, command.processes(0), site, exec);
  EXPECT_THAT(launch.argv, testing::Contains(testing::HasSubstr("exec bash")));
}

TEST(ProcessLaunchTest, OnlyTheFirstRankReportsItsSoftware) {
  v1::StartAttempt command = Command();
  command.mutable_spec()->mutable_environment()->set_venv("/venv");
  EXPECT_THAT(MakeProcessLaunch(command, command.processes(0), Site()).argv,
              testing::Not(testing::Contains("--record=")));
  command.mutable_processes(0)->mutable_ranks(0)->set_rank(0);
  EXPECT_THAT(MakeProcessLaunch(command, command.processes(0), Site()).argv,
              testing::Contains("--record="));
  command.mutable_processes(0)->set_standby(true);
  EXPECT_THAT(MakeProcessLaunch(command, command.processes(0), Site()).argv,
              testing::Not(testing::Contains("--record=")));
}

TEST(ProcessLaunchTest, AContainerSeesTheCheckpoints) {
  v1::StartAttempt command = Command();
  command.mutable_spec()->mutable_environment()->mutable_container()->set_image("i");
  EXPECT_THAT(MakeProcessLaunch(command, command.processes(0), Site()).argv,
              testing::IsSupersetOf({"--launcher=podman", "--image=i", "--mount=/ck"}));
}

TEST(ProcessLaunchTest, WithoutAFactorTheLearningRateIsTheJobs) {
  v1::StartAttempt command = Command();
  command.clear_lr_factor();
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), Site());
  EXPECT_EQ(launch.environment.at("TRAINYARD_LR_FACTOR"), "1");
}

TEST(ProcessLaunchTest, SetsTheWholeContract) {
  v1::StartAttempt command = Command();
  command.mutable_spec()->mutable_restart()->set_max_restarts(5);
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(1), Site());
  const std::map<std::string, std::string> expected = {
      {"RANK", "3"},
      {"WORLD_SIZE", "4"},
      {"LOCAL_RANK", "1"},
      {"LOCAL_WORLD_SIZE", "2"},
      {"GROUP_RANK", "1"},
      {"GROUP_WORLD_SIZE", "2"},
      {"NODE_RANK", "1"},
      {"MASTER_ADDR", "10.0.0.1"},
      {"MASTER_PORT", "29500"},
      {"ROLE_RANK", "3"},
      {"ROLE_WORLD_SIZE", "4"},
      {"ROLE_NAME", "default"},
      {"TORCHELASTIC_RESTART_COUNT", "2"},
      {"TORCHELASTIC_MAX_RESTARTS", "5"},
      {"TORCHELASTIC_RUN_ID", "trainyard-7"},
      {"TORCHELASTIC_USE_AGENT_STORE", "False"},
      {"TORCHELASTIC_ERROR_FILE", "/data/rank3/error.json"},
      {"TRAINYARD_JOB_ID", "7"},
      {"TRAINYARD_JOB_NAME", "tiny"},
      {"TRAINYARD_ATTEMPT", "3"},
      {"TRAINYARD_RUN_DIR", "/data/rank3"},
      {"TRAINYARD_SPEC", "/data/rank3/spec.json"},
      {"TRAINYARD_TELEMETRY", "/data/rank3/telemetry.jsonl"},
      {"TRAINYARD_CHECKPOINT_DIR", "/ck"},
      {"TRAINYARD_RESUME_FROM", "/ck/step_000000100"},
      {"TRAINYARD_SKIP_SAMPLES", "5:9"},
      {"TRAINYARD_LR_FACTOR", "0.10000000000000001"},
      {"TRAINYARD_ROLLED_BACK", "1:90"},
      {"TRAINYARD_LIVE_JOBS", "3,17"},
      {"OMP_NUM_THREADS", "4"},
      {"PYTHONUNBUFFERED", "1"},
      {"PATH", "/bin"},
      {"HOME", "/root"},
  };
  EXPECT_EQ(launch.environment, expected);
  EXPECT_THAT(launch.argv, ElementsAre("/opt/bin/trainyard-trainer"));
  EXPECT_EQ(launch.working_directory, "/data/rank3");
}

TEST(ProcessLaunchTest, ADataJobRunsItsPipelineInTheEnvironmentOfTheTrainer) {
  v1::StartAttempt command = Command();
  const auto trainer = MakeProcessLaunch(command, command.processes(1), Site()).environment;
  command.mutable_spec()->set_kind(v1::JOB_KIND_DATA);
  command.mutable_spec()->set_pipeline("/data/wiki.yaml");
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(1), Site());
  EXPECT_THAT(launch.argv, ElementsAre("/opt/bin/trainyard-data", "run", "/data/wiki.yaml"));
  EXPECT_EQ(launch.environment, trainer);
  command.mutable_spec()->set_torchrun_env(false);
  EXPECT_TRUE(MakeProcessLaunch(command, command.processes(1), Site()).environment.contains("RANK"))
      << "the ranks find each other by these variables";
}

TEST(ProcessLaunchTest, RunsInTheDirectoryOfTheCode) {
  v1::StartAttempt command = Command();
  command.mutable_spec()->add_command("train.py");
  LaunchSite site = Site();
  EXPECT_EQ(MakeProcessLaunch(command, command.processes(0), site).working_directory,
            "/data/rank3");
  site.code_dir = "/data/code/tree";
  ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), site);
  EXPECT_EQ(launch.working_directory, "/data/code/tree");
  EXPECT_EQ(launch.environment["TRAINYARD_CODE_DIR"], "/data/code/tree");
  command.mutable_spec()->set_working_directory("/shared");
  launch = MakeProcessLaunch(command, command.processes(0), site);
  EXPECT_EQ(launch.working_directory, "/shared");
  EXPECT_EQ(launch.environment["TRAINYARD_CODE_DIR"], "/data/code/tree");
}

TEST(ProcessLaunchTest, JobsCommandDirectoryAndVariablesWin) {
  v1::StartAttempt command = Command();
  command.mutable_spec()->add_command("python3");
  command.mutable_spec()->add_command("train.py");
  command.mutable_spec()->set_working_directory("/code");
  command.mutable_spec()->mutable_train()->set_threads(3);
  (*command.mutable_spec()->mutable_env())["PATH"] = "/venv/bin";
  (*command.mutable_spec()->mutable_env())["TRAINYARD_SPEC"] = "/etc/passwd";
  ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), Site());
  EXPECT_THAT(launch.argv, ElementsAre("python3", "train.py"));
  EXPECT_EQ(launch.working_directory, "/code");
  EXPECT_EQ(launch.environment["OMP_NUM_THREADS"], "3");
  EXPECT_EQ(launch.environment["PATH"], "/venv/bin");
  EXPECT_EQ(launch.environment["TRAINYARD_SPEC"], "/data/rank3/spec.json");

  (*command.mutable_spec()->mutable_env())["OMP_NUM_THREADS"] = "1";
  launch = MakeProcessLaunch(command, command.processes(0), Site());
  EXPECT_EQ(launch.environment["OMP_NUM_THREADS"], "1");
}

TEST(ProcessLaunchTest, EveryRankSeesTheGpusOfTheNodeInOrderOfLocalRank) {
  v1::StartAttempt command = Command();
  command.mutable_processes(0)->set_slots(0, 2);
  command.mutable_processes(1)->set_slots(0, 1);
  LaunchSite site = Site();
  AddSlot(site.inventory, v1::DEVICE_KIND_GPU, "GPU-a");
  AddSlot(site.inventory, v1::DEVICE_KIND_GPU, "GPU-b");
  AddSlot(site.inventory, v1::DEVICE_KIND_GPU, "GPU-c");
  for (const v1::Process& process : command.processes()) {
    ProcessLaunch launch = MakeProcessLaunch(command, process, site);
    EXPECT_EQ(launch.environment["CUDA_VISIBLE_DEVICES"], "GPU-c,GPU-b");
  }
}

TEST(ProcessLaunchTest, LocalRanksGiveTheOrderHoweverTheCommandListsThem) {
  v1::StartAttempt command = Command();
  command.mutable_processes(0)->mutable_ranks(0)->set_local_rank(1);
  command.mutable_processes(0)->set_slots(0, 0);
  command.mutable_processes(1)->mutable_ranks(0)->set_local_rank(0);
  command.mutable_processes(1)->set_slots(0, 1);
  LaunchSite site = Site();
  AddSlot(site.inventory, v1::DEVICE_KIND_GPU, "GPU-a");
  AddSlot(site.inventory, v1::DEVICE_KIND_GPU, "");
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), site);
  EXPECT_EQ(launch.environment.at("CUDA_VISIBLE_DEVICES"), "1,GPU-a") << "no uuid: its index";
}

TEST(ProcessLaunchTest, RanksShareTheCoresAndEachHasOneThreadAtLeast) {
  const auto threads = [](const v1::StartAttempt& command, int cores) {
    LaunchSite site = Site();
    site.inventory.set_cpu_cores(cores);
    return MakeProcessLaunch(command, command.processes(0), site).environment.at("OMP_NUM_THREADS");
  };
  EXPECT_EQ(threads(Command(), 8), "4");
  EXPECT_EQ(threads(Command(), 3), "1");
  EXPECT_EQ(threads(Command(), 1), "1");
  EXPECT_EQ(threads(StartOf(7, 1, 1), 8), "8");
}

TEST(ProcessLaunchTest, TheFirstSlotOfANodeIsADeviceLikeAnyOther) {
  v1::StartAttempt command = Command();
  command.mutable_processes(0)->set_slots(0, 0);
  command.mutable_processes(1)->set_slots(0, 1);
  LaunchSite site = Site();
  AddSlot(site.inventory, v1::DEVICE_KIND_GPU, "GPU-a");
  AddSlot(site.inventory, v1::DEVICE_KIND_GPU, "GPU-b");
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), site);
  EXPECT_EQ(launch.environment.at("CUDA_VISIBLE_DEVICES"), "GPU-a,GPU-b");
}

TEST(ProcessLaunchTest, SlotsThatTheNodeDoesNotHaveAreNoDevices) {
  v1::StartAttempt command = Command();
  LaunchSite site = Site();
  AddSlot(site.inventory, v1::DEVICE_KIND_GPU, "GPU-a");
  AddSlot(site.inventory, v1::DEVICE_KIND_GPU, "GPU-b");
  // The first slot beyond the inventory, a slot far beyond the inventory, and a negative slot.
  for (const int slot : {2, 1000, -1}) {
    command.mutable_processes(0)->set_slots(0, slot);
    command.mutable_processes(1)->set_slots(0, 1);
    const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), site);
    EXPECT_EQ(launch.environment.at("CUDA_VISIBLE_DEVICES"), "GPU-b") << slot;
  }
}

// Returns the start of an attempt with one rank that runs the user's program.
v1::StartAttempt OneRank() {
  v1::StartAttempt command = StartOf(7, 1, 1);
  command.set_world_size(1);
  command.set_node_count(1);
  command.mutable_spec()->add_command("train");
  return command;
}

bool HasTorchrunVariables(const v1::StartAttempt& command) {
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), Site());
  const bool has = launch.environment.contains("RANK");
  for (const char* name : {"WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK",
                           "GROUP_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT"}) {
    EXPECT_EQ(launch.environment.contains(name), has) << name;
  }
  EXPECT_TRUE(launch.environment.contains("TRAINYARD_TELEMETRY"));
  return has;
}

TEST(ProcessLaunchTest, TorchrunVariablesAreThoseThatTheJobAsksFor) {
  v1::StartAttempt command = OneRank();
  EXPECT_TRUE(HasTorchrunVariables(command)) << "an attempt of an older controller";
  command.mutable_spec()->set_torchrun_env(false);
  EXPECT_FALSE(HasTorchrunVariables(command));
  command.mutable_spec()->set_torchrun_env(true);
  EXPECT_TRUE(HasTorchrunVariables(command));
  command.mutable_spec()->clear_command();
  command.mutable_spec()->set_torchrun_env(false);
  EXPECT_TRUE(HasTorchrunVariables(command)) << "trainyard-trainer finds its peers by them";
}

TEST(ProcessLaunchTest, UnsetVariablesAreNotPassedOn) {
  v1::StartAttempt command = OneRank();
  for (const char* name : {"HOME", "OMP_NUM_THREADS", "TRAINYARD_SPEC", "ABSENT"}) {
    command.mutable_spec()->add_unset_env(name);
  }
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), Site());
  EXPECT_FALSE(launch.environment.contains("HOME"));
  EXPECT_FALSE(launch.environment.contains("OMP_NUM_THREADS"));
  EXPECT_EQ(launch.environment.at("PATH"), "/bin");
  EXPECT_EQ(launch.environment.at("TRAINYARD_SPEC"), "/data/rank3/spec.json");
}

TEST(ProcessLaunchTest, CpuJobSeesNoGpuOfANodeThatHasSome) {
  v1::StartAttempt command = Command();
  LaunchSite site = Site();
  AddSlot(site.inventory, v1::DEVICE_KIND_CPU, "");
  AddSlot(site.inventory, v1::DEVICE_KIND_CPU, "");
  AddSlot(site.inventory, v1::DEVICE_KIND_GPU, "GPU-a");
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), site);
  ASSERT_TRUE(launch.environment.contains("CUDA_VISIBLE_DEVICES"));
  EXPECT_EQ(launch.environment.at("CUDA_VISIBLE_DEVICES"), "");
}

TEST(ProcessLaunchTest, MissingPathGetsADefault) {
  const v1::StartAttempt command = Command();
  LaunchSite site = Site();
  site.worker_environment.clear();
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), site);
  EXPECT_EQ(launch.environment.at("PATH"), "/usr/local/bin:/usr/bin:/bin");
  EXPECT_FALSE(launch.environment.contains("HOME"));
}

}  // namespace
}  // namespace trainyard::worker
