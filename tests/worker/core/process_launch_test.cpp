#include "worker/core/process_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(ProcessLaunchTest, WithoutAFactorTheLearningRateIsTheJobs) {
  v1::StartAttempt command = Command();
  command.clear_lr_factor();
  const ProcessLaunch launch = MakeProcessLaunch(command, command.processes(0), Site());
  EXPECT_EQ(launch.environment.at("TRAINYARD_LR_FACTOR"), "1");
}

TEST(ProcessLaunchTest, SetsTheWholeContract) {
  const v1::StartAttempt command = Command();
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
