// Tests `convert`.
#include <regex>
#include <sstream>

#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ConvertTest : public CliFixture {
 protected:
  CliResult Convert(const std::string& script) {
    return Run({"convert", WriteFile("run.sh", script), "--name", "mine"});
  }

  // Returns the job file without the comments that explain its values.
  static std::string Uncommented(const std::string& job_file) {
    return std::regex_replace(job_file, std::regex(" +# [^\n]*"), "");
  }
};

// The command for GPT-3 15B in "Training Recipes", copied verbatim.
constexpr char kGpt15b[] = R"(torchrun --nproc_per_node=8 --nnodes=4 pretrain_gpt.py \
  --num-layers 32 \
  --hidden-size 6144 \
  --num-attention-heads 48 \
  --ffn-hidden-size 24576 \
  --seq-length 4096 \
  --max-position-embeddings 4096 \
  --micro-batch-size 4 \
  --global-batch-size 1152 \
  --lr 4.5e-4 \
  --min-lr 4.5e-5 \
  --lr-decay-style cosine \
  --lr-warmup-samples 3906252 \
  --train-samples 1953125000 \
  --adam-beta1 0.9 \
  --adam-beta2 0.95 \
  --weight-decay 0.1 \
  --clip-grad 1.0 \
  --bf16 \
  --tensor-model-parallel-size 8 \
  --pipeline-model-parallel-size 1 \
  --sequence-parallel \
  --use-distributed-optimizer \
  --overlap-grad-reduce \
  --overlap-param-gather \
  --data-path /path/to/data \
  --vocab-file /path/to/vocab.json \
  --merge-file /path/to/merges.txt \
  --save /checkpoints/gpt3-15b \
  --load /checkpoints/gpt3-15b \
  --save-interval 1000 \
  --eval-interval 100
)";

TEST_F(ConvertTest, AMegatronCommandBecomesAJobFile) {
  const CliResult result = Convert(kGpt15b);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* line :
       {"name: mine\n", "  nodes: 4\n", "  slots_per_node: 8\n", "  num_layers: 32\n",
        "  hidden_size: 6144\n", "  activation: gelu_tanh\n", "  add_bias_linear: true\n",
        "  max_position_embeddings: 4096\n", "  samples: 1953125000\n", "  precision: bf16\n",
        "  tp: 8\n", "  zero: 1\n", "  sequence_parallel: true\n", "  kind: cosine\n",
        "  warmup_samples: 3906252\n", "  path: /path/to/data\n", "  format: megatron\n",
        "  dir: /checkpoints/gpt3-15b\n", "  every_steps: 1000\n"}) {
    EXPECT_THAT(Uncommented(result.out), HasSubstr(line));
  }
  EXPECT_THAT(result.out, Not(HasSubstr("resume_from"))) << "it goes on from its own directory";
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("line 27: --vocab-file /path/to/vocab.json: the tokenizer"),
                    HasSubstr("`trainyard submit` would refuse this job file: "),
                    HasSubstr("model.vocab_size"),
                    HasSubstr("format: megatron, because it runs a script named pretrain_*.py"),
                    HasSubstr("left out, because trainyard-trainer has no such setting and needs "
                              "none: --overlap-grad-reduce, --overlap-param-gather")));
}

TEST_F(ConvertTest, EachLineOfTheJobFileNamesItsOrigin) {
  const CliResult result = Convert(kGpt15b);
  EXPECT_THAT(result.out, AllOf(HasSubstr("  # line 2: --num-layers\n"), HasSubstr("  # --name\n"),
                                HasSubstr("  # line 1: torchrun --nnodes\n"),
                                HasSubstr("  # default of Megatron-LM\n"),
                                HasSubstr("  # line 23: --use-distributed-optimizer\n")));
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.back() == ':' || line.find("  # ") != std::string::npos) << line;
  }
}

// After the missing setting has been added, `submit` accepts the job.
TEST_F(ConvertTest, AConvertedJobCanBeSubmitted) {
  const CliResult result = Convert(std::string(kGpt15b) + " --vocab-size 50304\n");
  EXPECT_THAT(result.err, Not(HasSubstr("submit would refuse")));
  const std::string path = WriteFile("job.yaml", result.out);
  const CliResult plan = Run({"plan", "--offline", path});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, Not(HasSubstr("submit would refuse")));
}

TEST_F(ConvertTest, VariablesOfTheScriptArePutIn) {
  const CliResult result = Convert(R"(#!/bin/bash
# Training GPT-3 175B
GPUS_PER_NODE=8
NNODES=64
TP_SIZE=8 # Tensor Parallelism
DP_SIZE=$((GPUS_PER_NODE * NNODES / TP_SIZE / 16))
torchrun \
--nproc_per_node $GPUS_PER_NODE \
--nnodes ${NNODES} \
pretrain_gpt.py \
--tensor-model-parallel-size "$TP_SIZE" \
--micro-batch-size $MICRO \
--num-layers 96
)");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(Uncommented(result.out),
              AllOf(HasSubstr("  nodes: 64\n"), HasSubstr("  slots_per_node: 8\n"),
                    HasSubstr("  tp: 8\n"), Not(HasSubstr("micro_batch"))));
  EXPECT_THAT(result.err, HasSubstr("line 12: --micro-batch-size $MICRO: the value is not in the "
                                    "script; set layout.micro_batch"));
}

TEST_F(ConvertTest, WhatCannotBeDoneIsSaidLineByLine) {
  const CliResult result = Convert(
      "torchrun pretrain_gpt.py --num-layers 2\n--num-experts 8 --moe-router-topk 2\n"
      "--fp8-recipe mxfp8\n--tensor-core 3\n--hidden-size 64\n--swiglu "
      "--position-embedding-type rope --max-position-embeddings 99 --normalization RMSNorm\n"
      "--data-path 0.7 /a 0.3 /b --rampup-batch-size 8 8 100 --load /old\nstray=1 stray\n");
  EXPECT_THAT(
      result.err,
      AllOf(HasSubstr("line 1: --disable-bias-linear is not set, so Megatron-LM adds biases"),
            HasSubstr("line 3: --fp8-recipe mxfp8: not converted; "),
            HasSubstr("line 4: --tensor-core 3: not understood"),
            HasSubstr("line 8: `stray` was not understood")));
  EXPECT_THAT(Uncommented(result.out),
              AllOf(HasSubstr("  num_experts: 8\n"), HasSubstr("  moe_router_topk: 2\n"),
                    HasSubstr("  add_bias_linear: false\n"), HasSubstr("  activation: swiglu\n"),
                    HasSubstr("rms_norm"), HasSubstr("  ffn_hidden_size: 256\n"),
                    HasSubstr("  blend: [0.7 /a, 0.3 /b]\n"),
                    HasSubstr("  rampup_batch_samples: 100\n"), HasSubstr("  resume_from: /old")));
  EXPECT_THAT(result.out, Not(HasSubstr("max_position_embeddings")));
}

TEST_F(ConvertTest, ValuesOutsideTheScriptAreAskedFor) {
  const std::string path =
      WriteFile("own.sh", "torchrun --nproc_per_node 2 train.py --data $DATA\n");
  const CliResult open = Run({"convert", path});
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_THAT(open.out, IsEmpty());
  EXPECT_THAT(open.err, HasSubstr("line 1: `$DATA` in the command: its value is not in the script; "
                                  "pass --var DATA=VALUE"));
  const CliResult given = Run({"convert", "--var", "DATA=/my data", path});
  EXPECT_EQ(given.exit_code, 0) << given.err;
  // Bash splits a value without quotes into words.
  EXPECT_THAT(given.out, HasSubstr("command: [python3, train.py, --data, /my, data]"));
  EXPECT_THAT(Run({"convert", path, "--var", "DATA"}).err,
              HasSubstr("--var DATA: is not of the form NAME=VALUE"));
}

TEST_F(ConvertTest, OtherTextsAreRefused) {
  const CliResult result = Convert("echo hello\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("has no Megatron-LM command"));
  EXPECT_EQ(Run({"convert", "/nonexistent.sh"}).exit_code, 3);
  input_ = "torchrun pretrain_gpt.py --num-layers 3\n";
  EXPECT_THAT(Uncommented(Run({"convert", "-"}).out), HasSubstr("  num_layers: 3\n"));
}

}  // namespace
}  // namespace trainyard::cli
