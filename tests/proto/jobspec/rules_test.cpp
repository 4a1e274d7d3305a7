#include "proto/jobspec/rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/files/normal_path.h"
#include "proto/jobspec/defaults.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(JobSpecRulesTest, CheckpointsAreNoFilesOfTheKernel) {
  for (const char* path : {"/proc/self/root/data", "/../proc/1/root/x", "/x/..//./proc/self/cwd",
                           "/sys/fs/cgroup/x", "/dev/disk"}) {
    for (const char* key : {"checkpoint.dir", "checkpoint.resume_from"}) {
      EXPECT_THAT(
          Errors(kModelJob, {absl::StrCat(key, "=", path)}),
          ElementsAre(testing::AllOf(HasSubstr(absl::StrCat("`", key, "` is ", NormalPath(path))),
                                     HasSubstr("use a directory on a disk"))))
          << path;
    }
  }
  for (const char* path : {"/processed/run", "/data/proc/self", "/dev/shm/run", "/system"}) {
    EXPECT_THAT(Errors(kModelJob, {absl::StrCat("checkpoint.dir=", path)}), ElementsAre()) << path;
  }
}

TEST(JobSpecRulesTest, AProgramWithoutItsCommandIsToldSo) {
  const std::vector<std::string> errors = Errors("name: mine\nresources: {device: cpu}\n");
  ASSERT_THAT(errors, ElementsAre(HasSubstr("`command` is missing")));
  EXPECT_THAT(errors[0], HasSubstr("command: [python3, train.py]"));
  EXPECT_THAT(errors[0], HasSubstr("extends: llama-tiny-cpu"));
  // Without a command, the job is a run of trainyard-trainer, so its missing settings are errors.
  EXPECT_THAT(Errors("name: mine\ntrain: {steps: 3}\n"),
              testing::Contains("`model.num_layers` is missing"));
}

TEST(JobSpecRulesTest, ReferencesInEnvAreWellFormed) {
  const std::string job = "name: a\ncommand: [x]\nenv: {A: '";
  EXPECT_THAT(Errors(job + "${HOME}:${X:-y} $Z $${'}\n"), testing::IsEmpty());
  EXPECT_THAT(Errors(job + "${HOME'}\n"),
              ElementsAre(HasSubstr("`env.A`: `${HOME` has no closing brace")));
  EXPECT_THAT(Errors(job + "${a b}'}\n"), ElementsAre(HasSubstr("does not name a variable")));
}

TEST(JobSpecRulesTest, SecretsAreNamedAndNeverWrittenDown) {
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nsecrets: [WANDB_API_KEY]\nenv: {EOS_TOKEN: </s>}\n"),
              testing::IsEmpty());
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nenv: {HF_TOKEN: hf_0123456789}\n"),
              ElementsAre(testing::AllOf(HasSubstr("job.yaml:3:"), HasSubstr("secrets: [HF_TOKEN]"),
                                         testing::Not(HasSubstr("hf_0123456789")))));
  for (const char* clear :
       {"{ALERT_WEBHOOK_URL: https://chat.example/x}", "{SERVICE_CREDENTIALS: abcdefgh}",
        "{PROXY: 'http://me:hush@proxy.example:8080'}", "{NOTE: hf_abcdefghijklmnopqrst}"}) {
    EXPECT_THAT(Errors(absl::StrCat("name: a\ncommand: [x]\nenv: ", clear, "\n")),
                ElementsAre(HasSubstr("looks like a secret")))
        << clear;
  }
  EXPECT_THAT(Errors("name: a\ncommand: [x, --key, sk-abcdefghijklmnop1234]\n"),
              ElementsAre(testing::AllOf(HasSubstr("a word of `command` looks like a secret"),
                                         testing::Not(HasSubstr("sk-abc")))));
  EXPECT_THAT(Errors("name: a\ncommand: [x, 'http://proxy.example:8080/a@b', --lr=1e-3]\n"
                     "env: {SORT_KEY: validation_loss, TASK: sk-learn}\n"),
              testing::IsEmpty());
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nsecrets: [../../etc/shadow]\n"),
              ElementsAre(HasSubstr("an entry must match")));
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nsecrets: [A, A]\n"), ElementsAre(HasSubstr("twice")));
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nsecrets: [TRAINYARD_SPEC]\n"),
              ElementsAre(HasSubstr("the worker sets")));
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nsecrets: [A]\nenv: {A: b}\n"),
              ElementsAre(HasSubstr("keep one of them")));
}

TEST(JobSpecRulesTest, RefusesAPathBesideABlendAndBadEntries) {
  const std::string both =
      absl::StrReplaceAll(kModelJob, {{"path: /data", "path: /data, blend: [1 /a]"}});
  EXPECT_THAT(Errors(both), testing::Contains(HasSubstr("are both set; keep one")));
  EXPECT_THAT(Errors(kModelJob, {"data.blend=[1]"}),
              testing::Contains(HasSubstr("write each entry as WEIGHT PATH")));
  EXPECT_THAT(Errors(kModelJob, {"data.blend=[[1, /a]]"}),
              testing::Contains(HasSubstr("an entry of `data.blend` must be text, not a list")));
  EXPECT_THAT(Errors(kModelJob, {"data.blend=[1 /a, 1 /b]", "data.blend_stages=[5 c=1]"}),
              ElementsAre(testing::AllOf(HasSubstr("names `c`"), HasSubstr("a, b"))));
  EXPECT_THAT(Errors(kModelJob, {"data.blend_stages=[5 data=1]"}),
              ElementsAre(HasSubstr("needs `data.blend`")));
  EXPECT_THAT(Errors(kModelJob, {"data.blend=[1 /a, 0 /b]", "data.blend_stages=[5 b=1]"}),
              testing::IsEmpty());
  EXPECT_THAT(Errors(kModelJob, {"evaluation.sets=[code /a, code /b]"}),
              testing::Contains(HasSubstr("names `code` twice")));
}

TEST(JobSpecRulesTest, WhatTheWorkerMustSetCannotBeRemoved) {
  const std::string ranks = "name: a\ncommand: [x]\nresources: {slots_per_node: 2}\n";
  EXPECT_THAT(Errors(ranks + "env: {MASTER_PORT: null}\n"),
              ElementsAre(HasSubstr(
                  "to remove all variables that torchrun would set, use `torchrun_env: false`")));
  EXPECT_THAT(Errors(ranks + "env: {CUDA_VISIBLE_DEVICES: null}\n"),
              ElementsAre(HasSubstr("every rank needs it")));
  EXPECT_THAT(Errors(ranks + "env: {A: 1}\nunset_env: [A]\n"),
              ElementsAre(HasSubstr("keep one of them")));
  EXPECT_THAT(Errors(ranks + "env: {A: null}\nunset_env: [B]\n"),
              ElementsAre(HasSubstr("use only one of the two forms")));
  EXPECT_THAT(Errors(ranks + "env: {'A-B': null}\n"), ElementsAre(HasSubstr("must match")));
}

TEST(JobSpecRulesTest, LaunchersShareTheSlotsOfANode) {
  const std::string job = "name: a\ncommand: [torchrun, x.py]\nresources: {slots_per_node: 6}\n";
  for (const char* fits : {"1", "2", "3", "6"}) {
    EXPECT_THAT(Errors(job, {absl::StrCat("launch.processes_per_node=", fits)}),
                testing::IsEmpty());
  }
  for (const char* wrong : {"4", "12"}) {
    EXPECT_THAT(Errors(job, {absl::StrCat("launch.processes_per_node=", wrong)}),
                ElementsAre(HasSubstr("it must divide `resources.slots_per_node` (6); use one of "
                                      "1, 2, 3, 6")));
  }
  EXPECT_THAT(Errors(job, {"launch.processes_per_node=0"}), ElementsAre(HasSubstr("at least 1")));
  EXPECT_THAT(Errors(kModelJob, {"launch.processes_per_node=1"}),
              ElementsAre(testing::AllOf(HasSubstr("this job runs trainyard-trainer"),
                                         HasSubstr("remove `launch`"))));
}

TEST(JobSpecRulesTest, RefusesLayoutsThatDoNotMultiplyOut) {
  EXPECT_THAT(Errors(kModelJob, {"layout.dp=3"}),
              ElementsAre(testing::AllOf(HasSubstr("= 3 ranks"), HasSubstr("the gang has 2")),
                          HasSubstr("layout.micro_batch * dp")));
  EXPECT_THAT(Errors(kModelJob, {"train.global_batch=7"}), ElementsAre(HasSubstr("multiple of")));
  EXPECT_THAT(Errors(kModelJob, {"model.num_attention_heads=5"}),
              testing::Contains(HasSubstr("model.hidden_size")));
}

TEST(JobSpecRulesTest, LogParserPatternsAreChecked) {
  const std::string regex = "log_parser.kind=regex";
  EXPECT_THAT(Errors(kCommandJob, {regex}), ElementsAre(HasSubstr("is missing")));
  EXPECT_THAT(Errors(kCommandJob, {regex, "log_parser.pattern=(?P<loss>x"}),
              ElementsAre(HasSubstr("not valid")));
  EXPECT_THAT(Errors(kCommandJob, {regex, "log_parser.pattern=(?P<loss>x)"}),
              ElementsAre(HasSubstr("(?P<step>")));
  EXPECT_THAT(Errors(kCommandJob, {regex, "log_parser.pattern=(?P<step>\\d+)"}), ElementsAre());
}

TEST(JobSpecRulesTest, FactorsOfMetricsAreChecked) {
  const std::string kind = "log_parser.kind=llm_c";
  EXPECT_THAT(Errors(kCommandJob, {kind, "log_parser.scale=[step_seconds=1e-3, tflops=2]"}),
              ElementsAre());
  for (const char* bad : {"loss", "loss=0", "loss=nan"}) {
    EXPECT_THAT(Errors(kCommandJob, {kind, absl::StrCat("log_parser.scale=[", bad, "]")}),
                ElementsAre(HasSubstr("write a metric and a number other than 0")))
        << bad;
  }
}

TEST(JobSpecRulesTest, RulesOfFailuresAreChecked) {
  EXPECT_THAT(Errors(kCommandJob, {"restart.rules=[retry reset by peer, 'fail x => y']"}),
              ElementsAre());
  EXPECT_THAT(Errors(kCommandJob, {"restart.rules=[fail (x]"}),
              ElementsAre(HasSubstr("`restart.rules` contains \"fail (x\": its pattern is not")));
}

TEST(JobSpecRulesTest, SparesNeedATrainerThatHealsAndPeersWithTheState) {
  EXPECT_THAT(Errors(kModelJob, {"restart.spares=2"}), ElementsAre());
  EXPECT_THAT(Errors(kCommandJob, {"restart.spares=1", "resources.nodes=2"}),
              ElementsAre(HasSubstr("`restart.spares` is 1, but only trainyard-trainer can use")));
  EXPECT_THAT(Errors(kModelJob, {"restart.spares=1", "resources.nodes=1"}),
              ElementsAre(HasSubstr("a gang of one node has no surviving ranks")));
  EXPECT_THAT(Errors(kModelJob, {"restart.spares=1", "evaluation.only=true"}),
              testing::Contains(HasSubstr("an evaluation does not heal in place")));
  EXPECT_THAT(Errors(kModelJob, {"restart.spares=1", "layout=auto"}),
              ElementsAre(HasSubstr("with `layout: auto`, a job that loses nodes")));
}

TEST(JobSpecRulesTest, GuardSettingsThatContradictEachOtherAreRefused) {
  EXPECT_THAT(Errors(kCommandJob, {"guard.window=5"}),
              ElementsAre(HasSubstr("`guard.min_points` is 10, but the window holds at most "
                                    "`guard.window` (5) points; lower `guard.min_points`")));
  EXPECT_THAT(Errors(kCommandJob, {"guard.spike_ratio=0.9"}),
              ElementsAre(HasSubstr("which makes every loss a spike")));
  EXPECT_THAT(Errors(kCommandJob, {"guard.spike_ratio=0", "guard.policy=lower_lr"}), ElementsAre());
  EXPECT_THAT(Errors(kCommandJob, {"guard.policy=undo"}),
              ElementsAre(HasSubstr("alert, skip, lower_lr, stop")));
}

TEST(JobSpecRulesTest, ARunWithoutDataIsConsistentButCannotStart) {
  const auto resolved = Resolve(kModelJob, {"data.path="});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_THAT(CheckLaunch(resolved->spec, resolved->origins),
              ElementsAre(HasSubstr("`data.path` is missing"), HasSubstr("bf16 is for GPUs")));
}

TEST(JobSpecRulesTest, TheServerChecksASpecThatNoClientChecked) {
  v1::JobSpec spec;
  spec.set_name("x");
  spec.add_command("a");
  Origins origins;
  FillDefaults(spec, origins);
  EXPECT_THAT(CheckJobSpec(spec, {}), ElementsAre());
  spec.mutable_data()->set_path("relative");
  EXPECT_THAT(CheckJobSpec(spec, {}), ElementsAre(HasSubstr("absolute path")));
}

}  // namespace
}  // namespace trainyard
