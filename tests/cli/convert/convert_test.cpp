// Converts published configurations of other trainers and compares the results with job files.
#include "cli/convert/convert.h"

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/rules.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string FileText(const std::string& path) {
  std::ifstream in(absl::StrCat(CONVERT_TEST_DIRECTORY, "/", path));
  EXPECT_TRUE(in) << path;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Returns the job file, with its notes as comments.
std::string Printed(const absl::StatusOr<ConvertedJob>& job) {
  if (!job.ok()) return std::string(job.status().message());
  std::string text = job->text;
  for (const std::string& note : job->notes) absl::StrAppend(&text, "# ", note, "\n");
  return text;
}

std::string Converted(const std::string& text, const std::string& format = "") {
  ConvertRequest request;
  request.sources = {{"input", text}};
  request.format = format;
  return Printed(ConvertToJob(request));
}

struct ConvertCase {
  const char* name;
  std::vector<const char*> files;
  int64_t nodes = 0;
  int64_t per_node = 0;
  bool keeps_command = false;
  std::map<std::string, std::string> variables = {};
};

void PrintTo(const ConvertCase& test, std::ostream* out) { *out << test.name; }

class ConvertFileTest : public ::testing::TestWithParam<ConvertCase> {};

TEST_P(ConvertFileTest, GivesThisJobFile) {
  ConvertRequest request;
  for (const char* file : GetParam().files) {
    request.sources.push_back({file, FileText(absl::StrCat("fixtures/", file))});
  }
  request.nodes = GetParam().nodes;
  request.per_node = GetParam().per_node;
  request.keeps_command = GetParam().keeps_command;
  request.variables = GetParam().variables;
  EXPECT_EQ(Printed(ConvertToJob(request)),
            FileText(absl::StrCat("expected/", GetParam().name, ".txt")));
}

// Returns the reasons why `submit` would reject the job file.
std::vector<std::string> Refusals(const std::string& text) {
  const auto reader = [&](const std::string& reference,
                          const std::string&) -> absl::StatusOr<JobFileText> {
    return JobFileText{reference, text};
  };
  const absl::StatusOr<ResolvedSpec> resolved = ResolveJobFile("job", {}, reader);
  if (!resolved.ok()) return absl::StrSplit(resolved.status().message(), '\n');
  return CheckLaunch(resolved->spec, {});
}

// Returns the settings between backticks in a reason for a rejection.
std::vector<std::string> SettingsIn(const std::string& refusal) {
  std::vector<std::string> settings;
  const std::vector<std::string> parts = absl::StrSplit(refusal, '`');
  for (size_t i = 1; i < parts.size(); i += 2) settings.push_back(parts[i]);
  return settings;
}

// The notes must list everything that is missing, so `submit` must reject the job for no other
// reason.
TEST_P(ConvertFileTest, IsAJobFileButForWhatItsNotesAskFor) {
  const std::string printed = FileText(absl::StrCat("expected/", GetParam().name, ".txt"));
  const size_t end = std::min(printed.find("\n# "), printed.size() - 1) + 1;
  const std::string notes = printed.substr(end);
  for (const std::string& refusal : Refusals(printed.substr(0, end))) {
    const std::vector<std::string> settings = SettingsIn(refusal);
    const auto is_said = [&](const std::string& setting) {
      const std::string section = setting.substr(0, setting.find('.'));
      return absl::StrContains(notes, setting) ||
             absl::StrContains(notes, absl::StrCat("no `", section, "`"));
    };
    EXPECT_TRUE(std::any_of(settings.begin(), settings.end(), is_said)) << refusal;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, ConvertFileTest,
    ::testing::Values(ConvertCase{"torchtitan-first", {"torchtitan-first.toml"}, 1, 8},
                      ConvertCase{"torchtitan-later", {"torchtitan-later.toml"}},
                      ConvertCase{"deepspeed", {"deepspeed.json"}},
                      ConvertCase{"deepspeed-launch",
                                  {"deepspeed.json", "launch.sh"},
                                  0,
                                  0,
                                  false,
                                  {{"DATA", "/data/corpus"}}},
                      ConvertCase{"launch", {"launch.sh"}, 0, 0, false, {{"DATA", "/data/corpus"}}},
                      ConvertCase{"gpt-neox", {"gpt-neox.yml"}, 12, 8},
                      ConvertCase{"olmo", {"olmo.yaml"}, 32, 8},
                      ConvertCase{"olmo-python", {"olmo.py"}}, ConvertCase{"nemo", {"nemo.yaml"}},
                      ConvertCase{"nemo-recipe", {"nemo-recipe.py"}},
                      ConvertCase{"slurm-megatron", {"slurm-megatron.sbatch"}},
                      ConvertCase{"slurm-tasks", {"slurm-tasks.sbatch"}},
                      ConvertCase{"slurm-own", {"slurm-own.sbatch"}},
                      ConvertCase{"determined", {"determined.yaml"}},
                      ConvertCase{"determined-shell", {"determined-shell.yaml"}},
                      ConvertCase{"determined-trial", {"determined-trial.yaml"}}));

// Commands and configurations copied verbatim from the guides.
INSTANTIATE_TEST_SUITE_P(
    Guides, ConvertFileTest,
    ::testing::Values(ConvertCase{"guide-gpt3-15b", {"guide-gpt3-15b.sh"}},
                      ConvertCase{"guide-gpt3-15b-kept", {"guide-gpt3-15b.sh"}, 0, 0, true},
                      ConvertCase{"guide-gpt3-175b", {"guide-gpt3-175b.sh"}},
                      ConvertCase{"guide-llama3-8b-fp8", {"guide-llama3-8b-fp8.sh"}},
                      ConvertCase{"guide-llama3.1-405b", {"guide-llama3.1-405b.sh"}},
                      ConvertCase{"guide-mixtral-8x7b", {"guide-mixtral-8x7b.sh"}},
                      ConvertCase{"guide-nemo", {"guide-nemo.py"}},
                      ConvertCase{"guide-deepspeed", {"guide-deepspeed.py"}, 1, 8},
                      ConvertCase{"guide-deepspeed-launch", {"guide-deepspeed-launch.sh"}},
                      ConvertCase{"guide-olmo", {"guide-olmo.py"}, 32, 8},
                      ConvertCase{"guide-torchtitan", {"guide-torchtitan.py"}, 1, 8},
                      ConvertCase{"guide-neox", {"guide-neox.sh"}},
                      ConvertCase{"guide-gpt-neox-20B", {"guide-gpt-neox-20B.yml"}, 12, 8}));

TEST(ConvertTest, EachFormatHasAName) {
  EXPECT_THAT(ConvertFormats(), ElementsAre("deepspeed", "determined", "gpt-neox", "launch",
                                            "megatron", "nemo", "olmo", "slurm", "torchtitan"));
}

TEST(ConvertTest, TextsOfNoTrainerAreRefusedWithTheReason) {
  EXPECT_THAT(Converted(""), HasSubstr("input: is empty"));
  EXPECT_THAT(Converted("# a comment\n\n"), HasSubstr("is empty"));
  EXPECT_THAT(Converted(std::string("\x7f"
                                    "ELF\0\1",
                                    6)),
              HasSubstr("is not UTF-8 text"));
  EXPECT_THAT(Converted("\xff\xfe"), HasSubstr("is not UTF-8 text"));
  EXPECT_THAT(Converted("hello there\n"), HasSubstr("has no Megatron-LM command"));
  EXPECT_THAT(Converted("colour: blue\n"), HasSubstr("has no settings of a known trainer"));
  EXPECT_THAT(Converted("[1, 2]\n", "deepspeed"), HasSubstr("is not a YAML mapping"));
  EXPECT_THAT(Converted("#SBATCH -N 2\necho hello\n"), HasSubstr("has no command that starts"));
  EXPECT_THAT(Converted("from nemo.collections import llm\nrecipe = llm.llama3_8b.recipe\n"),
              HasSubstr("is Python code without a dictionary or a call"));
}

TEST(ConvertTest, DamagedTextsSayTheLine) {
  EXPECT_THAT(Converted("{\n\"train_batch_size\": 8,\n"),
              AllOf(HasSubstr("line 3: is not valid JSON"), HasSubstr("ends too early")));
  EXPECT_THAT(Converted("{\n\"fp16\": {]\n"), HasSubstr("line 2: is not valid JSON"));
  EXPECT_THAT(Converted("[training]\nsteps = \n"), HasSubstr("line 2: is not valid TOML"));
  EXPECT_THAT(Converted("model:\n  d_model: [4\nb: }\n"), HasSubstr("is not valid YAML"));
  EXPECT_THAT(Converted("c = dict(\nmodel=ModelConfig(\n  d_model=4,\n"),
              HasSubstr("the text ends before"));
}

TEST(ConvertTest, Fp16KeepsItsLossScale) {
  const std::string megatron = "python pretrain_gpt.py --num-layers 2 --initial-loss-scale 65536 ";
  EXPECT_THAT(Converted(megatron + "--fp16\n"),
              AllOf(HasSubstr("precision: fp16"), HasSubstr("initial_loss_scale: 65536")));
  EXPECT_THAT(Converted(megatron + "--bf16\n"),
              AllOf(HasSubstr("precision: bf16"), Not(HasSubstr("loss_scale"))));
  EXPECT_THAT(Converted("{\"train_batch_size\": 8, \"fp16\": {\"enabled\": true,\n"
                        "\"initial_scale_power\": 10, \"hysteresis\": 1, \"loss_scale\": 128}}\n"),
              AllOf(HasSubstr("precision: fp16"), HasSubstr("initial_loss_scale: 1024"),
                    HasSubstr("hysteresis: 1"),
                    HasSubstr("fp16.loss_scale: 128: a constant scale is not supported")));
}

TEST(ConvertTest, Fp8KeepsItsRecipe) {
  const std::string megatron = "python pretrain_gpt.py --fp8-format ";
  EXPECT_THAT(Converted(megatron + "hybrid\n"),
              AllOf(HasSubstr("fp8: delayed"), HasSubstr("precision: bf16")));
  EXPECT_THAT(Converted(megatron + "hybrid --fp8-recipe tensorwise\n"), HasSubstr("fp8: current"));
  EXPECT_THAT(Converted(megatron + "e4m3\n"),
              AllOf(HasSubstr("--fp8-format e4m3: not converted"), Not(HasSubstr("fp8: "))));
}

TEST(ConvertTest, TimeLimitsOfCollectivesAreSeconds) {
  const std::string megatron = "python pretrain_gpt.py --distributed-timeout-minutes ";
  EXPECT_THAT(Converted(megatron + "60\n"), HasSubstr("distributed_timeout_s: 3600"));
  EXPECT_THAT(Converted(megatron + "99999999999999999\n"),
              AllOf(HasSubstr("--distributed-timeout-minutes 99999999999999999: not understood"),
                    Not(HasSubstr("distributed_timeout_s"))));
  EXPECT_THAT(Converted("[model]\nflavor = \"8B\"\n[comm]\ntrain_timeout_seconds = 100\n"),
              HasSubstr("distributed_timeout_s: 100"));
}

TEST(ConvertTest, ValuesOfTheWrongKindAreSaidAndNotWritten) {
  const std::string job = Converted(
      "[model]\nflavor = 8\n[training]\nsteps = \"many\"\nseq_len = 1.5\ndeterministic = 3\n"
      "max_norm = [1]\n");
  EXPECT_THAT(job, AllOf(HasSubstr("line 4: training.steps: many: is not a whole number; set "
                                   "train.steps"),
                         HasSubstr("line 5: training.seq_len: 1.5: is not a whole number"),
                         HasSubstr("line 6: training.deterministic: 3: is neither true nor false"),
                         HasSubstr("line 7: training.max_norm[]: 1: not understood"),
                         HasSubstr("line 2: model llama3 8: the shape of this model is unknown")));
}

TEST(ConvertTest, HugeNumbersAreNotMultiplied) {
  EXPECT_THAT(Converted("{\"train_micro_batch_size_per_gpu\": 999999999999999999,"
                        "\"gradient_accumulation_steps\": 999999999999999999}"),
              Not(HasSubstr("global_batch:")));
  EXPECT_THAT(Converted("{\"train_batch_size\": 1e400}"), HasSubstr("is not valid JSON"));
  EXPECT_THAT(Converted("[training]\nlocal_batch_size = 9223372036854775807\n"
                        "[parallelism]\ndata_parallel_replicate_degree = 9223372036854775807\n"
                        "data_parallel_shard_degree = 9223372036854775807\n"),
              HasSubstr("zero: 3"));
}

// These forty lines of YAML would expand to 2^40 values.
TEST(ConvertTest, AliasesCannotGrowWithoutEnd) {
  std::string bomb = "model: {d_model: &a0 [1]}\n";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(&bomb, "k", i, ": &a", i, " [*a", i - 1, ", *a", i - 1, "]\n");
  }
  EXPECT_THAT(Converted(bomb),
              AnyOf(HasSubstr("contains more than"), HasSubstr("aliases expand to")));
  EXPECT_THAT(Converted("entrypoint: &a [*a]\n"),
              AnyOf(HasSubstr("is nested deeper than"), HasSubstr("is not valid YAML")));
}

TEST(ConvertTest, DeepTextsAreRefused) {
  const std::string open(5000, '[');
  EXPECT_THAT(Converted("{\"a\": " + open), HasSubstr("nested deeper"));
  EXPECT_THAT(Converted("[training]\na = " + open), HasSubstr("is not valid TOML"));
  EXPECT_THAT(Converted("c = {\"a\": " + open), HasSubstr("nested deeper"));
  EXPECT_THAT(Converted("model: " + open), HasSubstr("is not valid YAML"));
}

TEST(ConvertTest, VariablesCannotGrowWithoutEnd) {
  std::string script = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 40; ++i) script += "A=$A$A\n";
  EXPECT_THAT(Converted(script + "torchrun train.py $A\n"), HasSubstr("grow without limit"));
}

TEST(ConvertTest, LaunchersThatCannotBeAreSaid) {
  EXPECT_THAT(Converted("#!/bin/sh\nmpirun -np 16 python train.py\n"),
              HasSubstr("line 2: mpirun: MPI starts the ranks of all nodes itself, which a job "
                        "cannot do"));
  EXPECT_THAT(
      Converted("#SBATCH -N 2 --gpus-per-node=8 --ntasks-per-node=1\nsrun python train.py\n"),
      AllOf(HasSubstr("line 2: SLURM starts one task per node"), HasSubstr("slots_per_node: 8\n"),
            HasSubstr("launch:\n  processes_per_node: 1\n")));
  EXPECT_THAT(Converted("#SBATCH -N 2 --gpus-per-node=8\nsrun ./train.sh\n"),
              HasSubstr("starts another script"));
  EXPECT_THAT(Converted("accelerate launch --num_machines 2 --num_processes 16 train.py\n"),
              AllOf(HasSubstr("  nodes: 2\n"), HasSubstr("  slots_per_node: 8\n"),
                    HasSubstr("command: [python3, train.py]")));
  EXPECT_THAT(
      Converted("torchrun --nnodes 1:N --nproc_per_node=8 train.py\n"),
      HasSubstr("torchrun --nnodes 1:N: the value is not in the script; set resources.nodes"));
}

// Options that only the launcher knows keep it, once per node. All others give one process per
// slot.
TEST(ConvertTest, ALauncherStaysForOptionsThatOnlyItKnows) {
  EXPECT_THAT(
      Converted("torchrun --nnodes 2 --nproc_per_node=8 --rdzv_backend c10d --virtual-local-rank "
                "train.py --x 1\n"),
      AllOf(HasSubstr("  nodes: 2\n"), HasSubstr("  slots_per_node: 8\n"),
            HasSubstr("launch:\n  processes_per_node: 1\n"),
            HasSubstr("torchrun --virtual-local-rank: only the launcher knows this"),
            HasSubstr("command: [torchrun, --virtual-local-rank, train.py, --x, 1]")));
  EXPECT_THAT(
      Converted("accelerate launch --num_machines 2 --num_processes 16 --mixed_precision bf16 "
                "--use_fsdp --main_process_ip 10.0.0.1 -m pkg.train\n"),
      AllOf(HasSubstr("launch:\n  processes_per_node: 1\n"),
            HasSubstr("--machine_rank \\\"$NODE_RANK\\\""),
            HasSubstr("accelerate, --mixed_precision, bf16, --use_fsdp, --module, "
                      "pkg.train]"),
            Not(HasSubstr("10.0.0.1"))));
  EXPECT_THAT(Converted("torchrun --nproc_per_node=8 --max-restarts 3 train.py\n"),
              AllOf(Not(HasSubstr("launch:")), HasSubstr("command: [python3, train.py]"),
                    HasSubstr("max_restarts: 3")));
  EXPECT_THAT(Converted("torchrun --nproc_per_node=8 --numa-binding node pretrain_gpt.py "
                        "--num-layers 2\n"),
              Not(HasSubstr("launch:")))
      << "trainyard-trainer needs no launcher";
}

TEST(ConvertTest, RangesOfNodesAreRead) {
  for (const char* script : {"torchrun --nnodes 2:8 --nproc_per_node=8 train.py\n",
                             "torchrun --nnodes=2:8 --nproc_per_node=8 train.py\n",
                             "#SBATCH --nodes=2-8 --gpus-per-node=8\n"
                             "srun torchrun --nproc_per_node=8 train.py\n"}) {
    EXPECT_THAT(Converted(script), HasSubstr("  nodes: 2..8\n")) << script;
  }
}

TEST(ConvertTest, ScriptsOfOtherLanguagesAreNotReadAsShell) {
  EXPECT_THAT(Converted(FileText("fixtures/guide-launcher.py")),
              HasSubstr("is Python code that contains no settings of a known trainer; the code is "
                        "not executed. If this file is the training program, convert the command"));
  EXPECT_THAT(Converted("#!/usr/bin/python3\nds = {\n\"train_batch_size\": 8}\n"),
              HasSubstr("global_batch: 8"));
}

TEST(ConvertTest, ACommandIsKeptWhereAFileHasOne) {
  ConvertRequest request;
  request.sources = {{"input", "{\"train_batch_size\": 8}"}};
  request.keeps_command = true;
  EXPECT_THAT(Printed(ConvertToJob(request)), HasSubstr("no file contains a command to keep"));
  request.sources = {{"input", "deepspeed --num_gpus 8 gpt-neox/train.py --megatron_config x\n"}};
  EXPECT_THAT(Printed(ConvertToJob(request)),
              AllOf(HasSubstr("command: [python3, gpt-neox/train.py, --megatron_config, x]"),
                    HasSubstr("log_parser:\n  kind: megatron\n")));
}

TEST(ConvertTest, AKnownProgramGetsItsLogParser) {
  const std::pair<std::string, std::string> programs[] = {
      {"run_clm.py --model gpt2", "hugging_face"},
      {"-m axolotl.cli.train lora.yml", "hugging_face"},
      {"scripts/train.py configs/official/OLMo-7B.yaml", "olmo"},
      {"src/scripts/official/OLMo2/OLMo-2-0325-32B-train.py", "olmo"},
      {"-m torchtitan.train", "torchtitan"}};
  for (const auto& [program, kind] : programs) {
    EXPECT_THAT(Converted("torchrun --nproc_per_node 8 " + program + "\n"),
                HasSubstr("log_parser:\n  kind: " + kind + "\n"))
        << program;
  }
}

TEST(ConvertTest, QueryGroupsAreCountedAsTheyAreWritten) {
  const std::string command =
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-attention-heads 32 ";
  const std::string kSaid = "without --group-query-attention, Megatron-LM ignores this option";
  EXPECT_THAT(
      Converted(command + "--num-query-groups 8\n"),
      AllOf(HasSubstr("num_query_groups: 8\n"), HasSubstr(kSaid),
            HasSubstr("to train the same model as Megatron-LM, set model.num_query_groups 32")));
  EXPECT_THAT(Converted(command + "--num-query-groups 8 --group-query-attention\n"),
              AllOf(HasSubstr("num_query_groups: 8\n"), Not(HasSubstr(kSaid))));
  EXPECT_THAT(Converted(command + "--num-query-groups 32\n"), Not(HasSubstr(kSaid)));
  EXPECT_THAT(Converted(command + "--group-query-attention\n"), HasSubstr("num_query_groups: 1\n"));
  EXPECT_THAT(Converted(command + "\n"), Not(HasSubstr("num_query_groups")));
  EXPECT_THAT(Converted(command + "--num-query-groups $G\n"),
              HasSubstr("the value is not in the script; set model.num_query_groups"));
}

TEST(ConvertTest, ArraysOfSlurmBecomeAMatrix) {
  const auto convert = [](const std::string& array) {
    return Converted("#SBATCH --array=" + array + "\nsrun python train.py\n");
  };
  const std::string range = convert("0-99%10");
  EXPECT_THAT(range, HasSubstr("max_concurrent: 10\n"));
  EXPECT_THAT(range, HasSubstr("matrix:\n  env.TRAINYARD_ARRAY_INDEX: 0..99\n"));
  EXPECT_THAT(range, HasSubstr("not in SLURM_ARRAY_TASK_ID"));
  EXPECT_THAT(Refusals(range.substr(0, range.find("\n# ") + 1)), ElementsAre());
  EXPECT_THAT(convert("0-15:4"), HasSubstr("env.TRAINYARD_ARRAY_INDEX: \"0..15:4\"\n"));
  EXPECT_THAT(convert("1,3,5-7"), HasSubstr("env.TRAINYARD_ARRAY_INDEX: [1, 3, 5, 6, 7]\n"));
  for (const char* bad : {"a-b", "7-5", "0-9:0", "1,0-999999999"}) {
    EXPECT_THAT(convert(bad), Not(HasSubstr("matrix:"))) << bad;
    EXPECT_THAT(convert(bad), HasSubstr("not understood; set `matrix`")) << bad;
  }
}

TEST(ConvertTest, DependenciesOfSlurmOnNamedJobsAreKept) {
  const auto convert = [](const std::string& dependency) {
    return Converted("#SBATCH --dependency=" + dependency + "\nsrun python train.py\n");
  };
  const std::string named = convert("afterok:prep:tokens,afternotok:probe,afterany:eval-1");
  EXPECT_THAT(named, HasSubstr("after: [prep, tokens, \"probe:failure\", \"eval-1:end\"]\n"));
  EXPECT_THAT(named, HasSubstr("in Trainyard, a stopped job has not failed"));
  EXPECT_THAT(named, Not(HasSubstr("names a job of Slurm")));
  EXPECT_THAT(Refusals(named.substr(0, named.find("\n# ") + 1)), ElementsAre());

  const std::string numbered = convert("afterok:123,singleton,after:prep+5");
  EXPECT_THAT(numbered, Not(HasSubstr("after: [")));
  EXPECT_THAT(numbered, HasSubstr("# line 1: #SBATCH --dependency=afterok:123: `123` names a job "
                                  "of Slurm; pass `--after JOB` to `trainyard submit`"));
  EXPECT_THAT(convert("afterany:123"), HasSubstr("pass `--after JOB:end`"));
  EXPECT_THAT(numbered, HasSubstr("--dependency=singleton: not needed"));
  EXPECT_THAT(numbered, HasSubstr("--dependency=after:prep+5: not supported"));
  EXPECT_THAT(convert("afterok:a?afterok:b"),
              HasSubstr("a job cannot wait for one of several conditions"));
  EXPECT_THAT(convert("afterok:Prep"), HasSubstr("`Prep` names a job of Slurm"));
  std::string many = "afterok";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&many, ":job-", i);
  EXPECT_THAT(convert(many), AllOf(HasSubstr("job-31]"), HasSubstr("`job-32` is left out")));
}

TEST(ConvertTest, NodesAndFeaturesOfSlurmBecomePlacement) {
  const auto convert = [](const std::string& options) {
    return Converted(absl::StrCat("#!/bin/bash\n#SBATCH ", options, "\nsrun ./train\n"));
  };
  EXPECT_THAT(convert("-w gpu[01-04],gpu9 --exclude=gpu02"),
              HasSubstr("placement:\n  exclude: [gpu02]\n  nodes: [\"gpu[01-04],gpu9\"]\n"));
  EXPECT_THAT(convert("-C \"ib&a100\""),
              AllOf(HasSubstr("placement:\n  labels: {a100: yes, ib: yes}\n"),
                    HasSubstr("--label ib=yes --label a100=yes")));
  EXPECT_THAT(convert("--constraint=\"[rack1|rack2]\""),
              AllOf(HasSubstr("set placement.labels"), Not(HasSubstr("placement:"))));
  EXPECT_THAT(convert("--nodelist=/etc/hosts/["), HasSubstr("not understood; set placement.nodes"));
  EXPECT_THAT(Converted("#!/bin/bash\n#SBATCH -N 2\nsrun -x gpu07 ./train\n"),
              HasSubstr("placement:\n  exclude: [gpu07]\n"));
}

TEST(ConvertTest, CpusAndMemoryOfSlurmBecomeRequestsOfTheRanks) {
  const auto convert = [](const std::string& options) {
    return Converted("#SBATCH -N 2 " + options +
                     "\nsrun torchrun --nproc_per_node 4 python train.py\n");
  };
  EXPECT_THAT(convert("-c 64 --mem=512G"),
              HasSubstr("cpus_per_rank: 16\n  memory_per_rank: 128GiB\n"));
  EXPECT_THAT(convert("--gpus-per-node=4 --cpus-per-gpu=6 --mem-per-cpu=4G"),
              HasSubstr("cpus_per_rank: 6\n  memory_per_rank: 24GiB\n"));
  EXPECT_THAT(convert("--cpus-per-task=7"),
              HasSubstr("# line 1: #SBATCH --cpus-per-task=7: cannot be shared equally by 4 ranks "
                        "per node; set resources.cpus_per_rank"));
}

TEST(ConvertTest, TasksAndGpusOfSlurmAreCounted) {
  const auto slots = [](const std::string& options, const std::string& run) {
    return Converted("#SBATCH " + options + "\n" + run + " python train.py\n");
  };
  EXPECT_THAT(slots("-N 2 -n 16", "srun"), HasSubstr("slots_per_node: 8\n"));
  EXPECT_THAT(slots("-N 2 --gpus=16", "srun"), HasSubstr("slots_per_node: 8\n"));
  EXPECT_THAT(slots("-N 2 --ntasks-per-node=4 --gpus-per-task=2", "srun"),
              HasSubstr("slots_per_node: 8\n"));
  EXPECT_THAT(slots("-N 2", "srun -n 16"), HasSubstr("slots_per_node: 8\n"));
  EXPECT_THAT(slots("-N 2", "srun --gpus-per-node=h100:8 --ntasks-per-node=8"),
              HasSubstr("slots_per_node: 8\n"));
  EXPECT_THAT(slots("-N 2", "srun --ntasks-per-node 2 --gpus-per-task 4"),
              HasSubstr("slots_per_node: 8\n"));
  EXPECT_THAT(slots("-N 2", "srun --gres=gpu:8 -n 2"),
              AllOf(HasSubstr("slots_per_node: 8\n"), HasSubstr("SLURM starts one task per node")));
  EXPECT_THAT(slots("-N 2 -n 15", "srun"), HasSubstr("--ntasks=15 is not divisible by 2 nodes"));
  EXPECT_THAT(slots("-N 2", "srun -n 15"), HasSubstr("15 tasks are not divisible by 2 nodes"));
  EXPECT_THAT(slots("-N 2 --ntasks-per-node=1", "srun"),
              AllOf(Not(HasSubstr("slots_per_node:")),
                    HasSubstr("the number of GPUs per node is unknown")));
  EXPECT_THAT(Converted("#SBATCH -N 2\nsrun python pretrain_gpt.py --num-layers 2\n"),
              HasSubstr("the number of GPUs per node is unknown"));
}

TEST(ConvertTest, DeterminedsVariablesFollowTheKindOfSlot) {
  const std::string gpu = Converted(FileText("fixtures/determined-shell.yaml"));
  EXPECT_THAT(gpu, AllOf(HasSubstr("NCCL_DEBUG: INFO"), Not(HasSubstr("  OMP_NUM_THREADS: 4"))));
  const std::string cpu = Converted(
      "environment: {environment_variables: {gpu: [A=1], cpu: [B=2], tpu: [C=3]}}\n"
      "resources: {slots_per_trial: 0}\nentrypoint: [python3, train.py]\n");
  EXPECT_THAT(cpu, AllOf(HasSubstr("device: cpu"), HasSubstr("env:\n  B: 2\n"),
                         HasSubstr("gpu[]: A=1: is for GPU slots"),
                         HasSubstr("tpu[]: C=3: not understood")));
}

TEST(ConvertTest, NemosClassesGiveTheModelsShape) {
  EXPECT_THAT(Converted("config = llm.GPTConfig13B()\nconfig.num_layers = 40\n"),
              AllOf(HasSubstr("line 1: llm.GPTConfig13B(): the shape of this model is unknown"),
                    HasSubstr("num_layers: 40\n")));
  EXPECT_THAT(Converted("config = Llama3Config8B(seq_length=4096)\nconfig.magic = 3\n"
                        "config.trainer.devices = n\n"),
              AllOf(HasSubstr("hidden_size: 4096\n"), HasSubstr("activation: swiglu\n"),
                    HasSubstr("seq_length: 4096\n"), HasSubstr("line 2: magic: 3: not understood"),
                    HasSubstr("line 3: trainer.devices: n: the value is not in the text")));
}

TEST(ConvertTest, TextsAreQuotedWhereYamlNeedsIt) {
  EXPECT_THAT(Converted("torchrun --nproc_per_node=2 train.py 'a: b' '#c' '' \"d\\\"e\" x=y\n"),
              HasSubstr(R"(command: [python3, train.py, "a: b", "#c", "", "d\"e", x=y])"));
}

}  // namespace
}  // namespace trainyard::cli
