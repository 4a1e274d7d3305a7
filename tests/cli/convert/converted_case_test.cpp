// Converts inputs of the kinds that users have reported as converted wrongly.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/convert/convert.h"
#include "gmock/gmock.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ConvertedFiles(const std::vector<ConvertSource>& sources,
                           const std::string& format = "") {
  ConvertRequest request;
  request.sources = sources;
  request.format = format;
  const absl::StatusOr<ConvertedJob> job = ConvertToJob(request);
  if (!job.ok()) return absl::StrCat("error: ", job.status().message());
  std::string text = job->text;
  for (const std::string& note : job->notes) absl::StrAppend(&text, "# ", note, "\n");
  return text;
}

std::string ConvertedText(const std::string& text, const std::string& format = "") {
  return ConvertedFiles({{"input", text}}, format);
}

constexpr char kShape[] =
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 32 --micro-batch-size 1 ";

TEST(ConvertedCaseTest, MegatronScriptsAreEvaluatedLikeBash) {
  const std::string job = ConvertedText(absl::StrCat(
      "#!/bin/bash\nCKPT=${1:-\"runs/a b\"}\nMOCK=${2:-\"MOCK\"}\nNODES=2\n"
      "ENTRY=tools/pretrain_gpt.py\n"
      "if [ ! -f \"$ENTRY\" ]; then\n  echo \"no $ENTRY\"\n  exit 1\nfi\n"
      "RUN=(--nproc_per_node $((4 * NODES)) --nnodes $NODES --node_rank ${NODE_RANK:-0})\n"
      "ARGS=(",
      kShape,
      ")\nMORE=(--bf16 --lr 1e-3)\nARGS+=(\"${MORE[@]}\")\n"
      "if [[ \"$MOCK\" == \"MOCK\" ]]; then\n  ARGS+=( \"--vocab-size 512\" )\nelse\n"
      "  ARGS+=( --vocab-size 7 --swiglu )\nfi\n"
      "torchrun ${RUN[@]} $ENTRY ${ARGS[@]} --train-iters 10 --save \"$CKPT\" "
      "--global-batch-size $((4*2))\nset +x\n"));
  EXPECT_THAT(job, AllOf(HasSubstr("  nodes: 2\n"), HasSubstr("  slots_per_node: 8\n"),
                         HasSubstr("  precision: bf16\n"), HasSubstr("  vocab_size: 512\n"),
                         HasSubstr("  global_batch: 8\n"), HasSubstr("  dir: runs/a b\n"),
                         HasSubstr("  lr: 1e-3\n"), HasSubstr("  activation: gelu_tanh\n")));
  EXPECT_THAT(job, AllOf(Not(HasSubstr("was not understood")), Not(HasSubstr("command"))));
}

TEST(ConvertedCaseTest, SettingsOfAFalseBranchAreNotTaken) {
  const std::string script = absl::StrCat(
      "WANDB=0\nEXTRA=\nif [ $WANDB -eq 1 ]\nthen\nEXTRA=\"--wandb-project p\"\nfi\n"
      "cat <<EOT > ds.json\n{\n  \"train_batch_size\" : 32\n}\nEOT\n"
      "re=\"false\"\nif [ \"${re}\" = \"true\" ]; then\n  EXTRA=\"--recompute-granularity full "
      "$EXTRA\"\n"
      "fi\ntorchrun --nproc_per_node 2 pretrain_gpt.py ",
      kShape, "--normalization rmsnorm --num-key-value-heads 2 $EXTRA\n");
  EXPECT_THAT(ConvertedText(script),
              AllOf(HasSubstr("  num_query_groups: 2\n"), HasSubstr("  normalization: rms_norm\n"),
                    HasSubstr("# line 8: the script writes ds.json"), Not(HasSubstr("recompute")),
                    Not(HasSubstr("wandb")), Not(HasSubstr("not understood"))));
}

TEST(ConvertedCaseTest, RendezvousOfSlurmVanishes) {
  const std::string batch =
      "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1 --gres=gpu:4\nexport G=4\n"
      "first=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
      "export MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
      "export HEAD=$first\nexport MASTER_PORT=$((20000 + $SLURM_JOB_ID % 1000))\n"
      "export LAUNCH=\"accelerate launch \\\n  --num_processes $((SLURM_NNODES * G)) \\\n"
      "  --num_machines $SLURM_NNODES --rdzv_backend c10d --main_process_ip $first \\\n  \"\n";
  const std::string job = ConvertedText(batch + "srun $LAUNCH /opt/train.py --fp16\n");
  EXPECT_THAT(job,
              AllOf(HasSubstr("command: [python3, /opt/train.py, --fp16]\n"),
                    HasSubstr("  nodes: 2\n  slots_per_node: 4\n"), HasSubstr("env:\n  G: 4\n"),
                    HasSubstr("it is a piece of the command: LAUNCH\n"),
                    HasSubstr("the worker sets MASTER_ADDR and MASTER_PORT: HEAD\n")));
  EXPECT_THAT(job.substr(0, job.find("\n# ")),
              AllOf(Not(HasSubstr("MASTER")), Not(HasSubstr("scontrol"))));
  EXPECT_THAT(
      ConvertedText(batch + "srun $LAUNCH $FILE --out `date +%s` a*b\n"),
      AllOf(HasSubstr("error: input: "),
            HasSubstr("line 12: `$FILE` in the command: its value is not in the script; "
                      "pass --var FILE=VALUE"),
            HasSubstr("\"`date +%s`\" in the command: its value is not in the script; replace"),
            HasSubstr("`a*b` in the command")));
}

TEST(ConvertedCaseTest, SecretsAreListedByName) {
  const std::string job = ConvertedText(
      "export WANDB_API_KEY=0123456789abcdef\nexport HF_TOKEN=$(cat ~/token)\n"
      "export EOS_TOKEN='</s>'\nexport HUB=https://me:pass@host/x\n"
      "torchrun --nproc_per_node 2 train.py\n");
  EXPECT_THAT(job, AllOf(HasSubstr("secrets: [WANDB_API_KEY, HF_TOKEN, HUB]\n"),
                         HasSubstr("  EOS_TOKEN: \"</s>\"\n"), Not(HasSubstr("0123456789")),
                         Not(HasSubstr("me:pass")), HasSubstr("secrets directory of each node")));
  EXPECT_THAT(ConvertedText("entrypoint: [python3, train.py]\nenvironment:\n"
                            "  environment_variables: [MY_SECRET=0123456789]\n"),
              AllOf(HasSubstr("secrets: [MY_SECRET]\n"), Not(HasSubstr("0123456789"))));
}

TEST(ConvertedCaseTest, TheProgramThatTrainsIsChosen) {
  const std::string run = "torchrun --nproc_per_node 2 train.py --epochs 3\n";
  const std::string job = ConvertedText("python -c 'import x'\npython prepare.py\n" + run +
                                        "python evaluate.py\npython - <<'E'\nprint(1)\nE\n");
  EXPECT_THAT(job, AllOf(HasSubstr("command: [python3, train.py, --epochs, 3]\n"),
                         HasSubstr("`python prepare.py`: this command precedes"),
                         HasSubstr("`python evaluate.py`: this command follows"),
                         HasSubstr("`python -`: reads a text from the script")));
  EXPECT_THAT(
      ConvertedText("python prepare.py\npython train.py\n"),
      HasSubstr("error: input: the script starts 2 programs without a launcher (lines 1, 2)"));
  EXPECT_THAT(ConvertedText("#!/bin/sh\nif [ -f go ]; then\n" + run + "fi\n"),
              AllOf(HasSubstr("error: input: has no command that starts training"),
                    HasSubstr("line 2: `if [ -f go ]`: the condition depends")));
}

TEST(ConvertedCaseTest, PythonInAHereDocumentIsNoConfiguration) {
  EXPECT_THAT(
      ConvertedText("cd /work\npython << 'EOF'\nimport json\nprint(1)\nEOF\n"
                    "torchrun --nproc_per_node 2 train.py\n"),
      AllOf(HasSubstr("command: [python3, train.py]\n"), HasSubstr("working_directory: /work\n"),
            HasSubstr("`python`: reads a text from the script")));
}

TEST(ConvertedCaseTest, FunctionsAndOtherScriptsAreFollowed) {
  const std::string script =
      "source \"$(dirname \"$0\")/model.sh\"\ngo() {\n  local n=$1; shift\n"
      "  torchrun --nproc_per_node \"$n\" pretrain_gpt.py \"${MODEL[@]}\" \"$@\"\n}\n"
      "go 8 --lr 1e-4\n";
  EXPECT_THAT(
      ConvertedFiles({{"model.sh", absl::StrCat("MODEL=(", kShape, ")\n")}, {"run.sh", script}}),
      AllOf(HasSubstr("  slots_per_node: 8\n"), HasSubstr("  hidden_size: 64\n"),
            HasSubstr("  lr: 1e-4\n"),
            HasSubstr("# model.sh: format: launch, because it only sets variables")));
  EXPECT_THAT(ConvertedText(script),
              HasSubstr("error: input: line 4: the options in `${MODEL[@]}` are not in the script; "
                        "pass the script that sets them before this one"));
}

TEST(ConvertedCaseTest, LineEndsOfWindowsAreRead) {
  EXPECT_THAT(ConvertedText("torchrun --nproc-per-node=8 \\\r\n\tpretrain_gpt.py \\\r\n"
                            "\t--num-layers=2 --bf16\r\n"),
              AllOf(HasSubstr("  num_layers: 2\n"), HasSubstr("  slots_per_node: 8\n"),
                    HasSubstr("# the lines end with CR LF"), Not(HasSubstr("command:"))));
  EXPECT_THAT(
      ConvertedText("#SBATCH --nodes=2\r\n#SBATCH --gpus-per-node=8\r\nsrun python a.py\r\n"),
      AllOf(HasSubstr("  nodes: 2\n"), HasSubstr("  slots_per_node: 8\n")));
  EXPECT_THAT(ConvertedText("torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 \\ \n"
                            "  --seq-length 32\n"),
              AllOf(HasSubstr("  num_layers: 4\n"), HasSubstr("  seq_length: 32\n"),
                    HasSubstr("# line 1: blanks follow the backslash")));
}

TEST(ConvertedCaseTest, FilesOfOneToolAreReadTogether) {
  const std::string first =
      "# flow style\n{\n \"num_layers\": 2, \"hidden_size\": 64,\n"
      " \"train_iters\": 10, \"save\": \"a\",\n}\n";
  const std::string second = "# of one machine\n{\n \"save\": \"b\", \"use_wandb\": True,\n}\n";
  for (const char* format : {"", "gpt-neox"}) {
    EXPECT_THAT(ConvertedFiles({{"one.yml", first}, {"two.yml", second}}, format),
                AllOf(HasSubstr("  num_layers: 2\n"), HasSubstr("  dir: b\n"),
                      HasSubstr("# two.yml: checkpoint.dir: b replaces a of one.yml\n")))
        << format;
  }
  EXPECT_THAT(ConvertedFiles({{"two.yml", second}, {"one.yml", first}}),
              HasSubstr("# two.yml: format: gpt-neox, because another file of the run has this"));
}

TEST(ConvertedCaseTest, FilesOfMegatronOptionsAreRead) {
  const std::string plain = ConvertedText(
      "num-layers: 32\nhidden-size: 6144  # wide\nsquared-relu: true\nswiglu: false\n"
      "group-query-attention: true\nnum-query-groups: 8\nrampup-batch-size: [384, 384, 97656250]\n"
      "bf16: true\nmystery: 3\n");
  EXPECT_THAT(plain, AllOf(HasSubstr("  num_layers: 32\n"), HasSubstr("squared_relu\n"),
                           HasSubstr("  num_query_groups: 8\n"),
                           HasSubstr("  rampup_batch_samples: 97656250\n"),
                           HasSubstr("  precision: bf16\n"),
                           HasSubstr("format: megatron, because its keys are options of"),
                           HasSubstr("left out, because it is off: swiglu\n"),
                           HasSubstr("# line 9: --mystery 3: not understood")));
  EXPECT_THAT(ConvertedText("ENV_VARS:\n  NCCL_ALGO: Tree\nMODEL_ARGS:\n  --num-layers: 12\n"
                            "  --hidden-size: 512\n  --bf16: true\nTEST_TYPE: resume\n"),
              AllOf(HasSubstr("  num_layers: 12\n"), HasSubstr("  precision: bf16\n"),
                    HasSubstr("env:\n  NCCL_ALGO: Tree\n"),
                    HasSubstr("# line 7: --TEST-TYPE resume: not understood")));
}

TEST(ConvertedCaseTest, NumbersAreExactOrRefused) {
  const std::string olmo = "max_duration: 10\nmodel: {d_model: 64}\nscheduler:\n  units: tokens\n";
  EXPECT_THAT(ConvertedText(olmo + "  t_warmup: 8388608001\n  t_max: 5e12\n"),
              AllOf(HasSubstr("  warmup_tokens: 8388608001\n"),
                    HasSubstr("  decay_tokens: 5000000000000\n")));
  EXPECT_THAT(ConvertedText(olmo + "  t_warmup: 9007199254740993\n  t_max: 9223372036854775808\n"),
              AllOf(HasSubstr("  warmup_tokens: 9007199254740993\n"),
                    HasSubstr("scheduler.t_max: 9223372036854775808: needs more than 64 bits"),
                    Not(HasSubstr("decay_tokens"))));
  const std::string megatron = "torchrun --nproc_per_node 2 pretrain_gpt.py ";
  EXPECT_THAT(ConvertedText(megatron + "--train-samples 1_000_000 --rampup-batch-size 2 2 1_000\n"),
              AllOf(HasSubstr("  samples: 1000000\n"), HasSubstr("_samples: 1000\n")));
  EXPECT_THAT(ConvertedText(megatron + "--train-samples 99999999999999999999\n"),
              AllOf(Not(HasSubstr("  samples:")), HasSubstr("needs more than 64 bits; set "
                                                            "train.samples")));
}

TEST(ConvertedCaseTest, EverySettingIsTakenOrNamed) {
  const std::string olmo = ConvertedText(
      "max_duration: 10\nfused_loss: true\nsoftmax_auxiliary_loss: true\nmodel:\n  d_model: 64\n"
      "  init_device: meta\noptimizer:\n  decay_embeddings: false\n  surprise: 1\n"
      "data:\n  num_workers: 8\n");
  EXPECT_THAT(olmo, AllOf(HasSubstr("left out, because trainyard-trainer has no such setting and "
                                    "needs none: fused_loss, model.init_device, data.num_workers"),
                          HasSubstr("# line 3: softmax_auxiliary_loss: true: "),
                          HasSubstr("# line 8: optimizer.decay_embeddings: false: weight decay"),
                          HasSubstr("# line 9: optimizer.surprise: 1: not understood")));
  const std::string nemo = ConvertedText(
      "run: {name: big, time_limit: 1h}\ntrainer: {num_nodes: 1}\nmodel:\n  num_layers: 2\n"
      "  scale_positional_embedding: true\n  num_moe_experts: 8\n  moe_router_topk: 2\n"
      "  expert_model_parallel_size: 4\n  data:\n    splits_string: 9,1,0\n"
      "    data_prefix: [.5, '${dir}/a', .5, b]\n");
  EXPECT_THAT(
      nemo, AllOf(HasSubstr("name: big\n"), HasSubstr("  rope_scaling_factor: 8\n"),
                  HasSubstr("  num_experts: 8\n"), HasSubstr("  moe_router_topk: 2\n"),
                  HasSubstr("  ep: 4\n"), HasSubstr("model.data.splits_string"),
                  HasSubstr("run.time_limit: 1h: set time_limit"),
                  HasSubstr("data_prefix: a path is not in the text"), Not(HasSubstr("blend: ["))));
}

TEST(ConvertedCaseTest, WhatHasNoEffectIsNamed) {
  const std::string job = ConvertedText(absl::StrCat(
      "mkdir -p logs\nnvidia-smi -L\necho start\necho again\ntorchrun --nproc_per_node 8 "
      "pretrain_gpt.py ",
      kShape,
      "--position-embedding-type rope --max-position-embeddings 131072 --initial-loss-scale 4096 "
      "--bf16\nsleep 5\n"));
  EXPECT_THAT(job,
              AllOf(HasSubstr("only learned positions have a limit: --max-position-embeddings\n"),
                    HasSubstr("the loss is scaled only with --fp16: --initial-loss-scale\n"),
                    HasSubstr("make directories: mkdir, nvidia-smi, echo, sleep\n")));
  EXPECT_THAT(job, AllOf(Not(HasSubstr("131072")), Not(HasSubstr("4096"))));
}

TEST(ConvertedCaseTest, CommentsOfAShellAreNoYaml) {
  EXPECT_THAT(ConvertedText("# Terminal 1: show the GPUs\nwatch -n 1 nvidia-smi\n"),
              HasSubstr("has no Megatron-LM command"));
}

TEST(ConvertedCaseTest, FilledValuesOfDeepSpeedAreNotWritten) {
  const std::string job = ConvertedText(
      "{\"train_batch_size\": \"auto\", \"gradient_clipping\": \"auto\",\n"
      "\"optimizer\": {\"type\": \"AdamW\", \"params\": {\"lr\": \"auto\", \"weight_decay\": "
      "\"auto\"}},\n\"zero_optimization\": {\"stage\": 3, \"reduce_bucket_size\": \"auto\"}}\n");
  EXPECT_THAT(job, AllOf(Not(HasSubstr("clip_grad: ")), Not(HasSubstr("  weight_decay:")),
                         Not(HasSubstr("  lr:")), HasSubstr("  zero: 3\n"),
                         HasSubstr("# line 1: gradient_clipping: auto: the program fills it in; "
                                   "Hugging Face's Trainer takes max_grad_norm, 1.0 by default"),
                         HasSubstr("fills in `auto`: zero_optimization.reduce_bucket_size")));
  EXPECT_THAT(ConvertedText("{\n\"train_batch_size\": SIZE,\n}"),
              HasSubstr("line 2: is not valid JSON"));
}

TEST(ConvertedCaseTest, OtherFormatsAreRefusedWithTheList) {
  const std::string kList = "supported inputs: command lines and batch scripts";
  const std::pair<std::string, std::string> files[] = {
      {"name: x\nnum_nodes: 2\nrun: |\n  torchrun --nnodes=$N train.py\n", "SkyPilot"},
      {"apiVersion: v1\nkind: PyTorchJob\nspec: {command: [torchrun, train.py]}\n", "Kubernetes"},
      {"compute_environment: LOCAL\nnum_processes: 8\n", "Hugging Face Accelerate"},
      {"model:\n  name: mpt\n  d_model: 64\n  expansion_ratio: 4\nmax_duration: 10ba\n",
       "llm-foundry"},
      {"base_model: x\ndatasets: [{path: y}]\nmicro_batch_size: 2\n", "Axolotl"}};
  for (const auto& [text, system] : files) {
    EXPECT_THAT(ConvertedText(text), AllOf(HasSubstr("error: input: is a file of " + system),
                                           HasSubstr("which is not converted"), HasSubstr(kList)));
  }
  const std::string strange = "max_duration: 3\na: 1\nb: 2\nc: {d: 4, e: 5}\n";
  EXPECT_THAT(ConvertedText(strange),
              AllOf(HasSubstr("looks like a file of olmo, because it has the key max_duration, but "
                              "4 of its 5 settings are unknown in this format; pass --from olmo"),
                    HasSubstr(kList)));
  EXPECT_THAT(ConvertedText(strange, "olmo"),
              AllOf(HasSubstr("  steps: 3\n"), HasSubstr("format: olmo, because --from names it")));
}

TEST(ConvertedCaseTest, ExpertsOfOlmo) {
  const std::string model =
      "run_name: experts\nmodel:\n  d_model: 512\n  n_heads: 8\n  n_layers: 10\n  mlp_ratio: 1\n"
      "  block_type: moe\n  activation_type: swiglu\n  layer_norm_type: rms\n  include_bias: "
      "false\n"
      "  vocab_size: 1000\n  max_sequence_length: 128\n  rope: true\n";
  const std::string tail =
      "optimizer: {name: adamw, learning_rate: 1e-3}\nscheduler: {name: cosine_with_warmup}\n"
      "global_train_batch_size: 8\nmax_duration: 100\nprecision: amp_bf16\n";
  const std::string job = ConvertedText(
      model +
          "  moe_num_experts: 16\n  moe_top_k: 4\n  moe_dropless: true\n  moe_mlp_impl: sparse\n"
          "  moe_loss_weight: 0.02\n  moe_zloss_weight: 0.001\n  moe_interleave: true\n" +
          tail,
      "olmo");
  EXPECT_THAT(
      job,
      AllOf(HasSubstr("  num_experts: 16\n"), HasSubstr("  moe_router_topk: 4\n"),
            HasSubstr("  moe_aux_loss_coeff: 0.002\n"), HasSubstr("  moe_z_loss_coeff: 0.001\n"),
            HasSubstr("  moe_norm_topk_prob: false\n"), HasSubstr("  ffn_hidden_size: 256\n")));
  EXPECT_THAT(job, AllOf(HasSubstr("averages the balance loss over the layers"),
                         HasSubstr("model.moe_interleave: true: every layer has experts"),
                         Not(HasSubstr("capacity")), Not(HasSubstr("not understood"))));
  EXPECT_THAT(ConvertedText(model + tail, "olmo"),
              AllOf(HasSubstr("  num_experts: 8\n"), HasSubstr("  moe_router_topk: 2\n"),
                    HasSubstr("  moe_aux_loss_coeff: 0.01\n"), Not(HasSubstr("capacity")),
                    Not(HasSubstr("z_loss"))));
  EXPECT_THAT(ConvertedText(model + "  moe_dropless: false\n" + tail, "olmo"),
              HasSubstr("  moe_expert_capacity_factor: 1.25\n"));
}

TEST(ConvertedCaseTest, ExpertsOfGptNeox) {
  const std::string start =
      "{\"num-layers\": 4, \"hidden-size\": 64, \"num-attention-heads\": 4, \"seq-length\": 32,\n"
      "\"pos-emb\": \"rotary\", \"train-iters\": 10, \"train_micro_batch_size_per_gpu\": 2,\n"
      "\"optimizer\": {\"type\": \"Adam\", \"params\": {\"lr\": 0.001}},\n";
  const std::string job =
      ConvertedText(start +
                        "\"moe-num-experts\": 8, \"moe-top-k\": 2, \"moe-loss-coeff\": 0.05,\n"
                        "\"moe-expert-parallel-size\": 2, \"moe-router-type\": \"topk\"}\n",
                    "gpt-neox");
  EXPECT_THAT(job, AllOf(HasSubstr("  num_experts: 8\n"), HasSubstr("  moe_router_topk: 2\n"),
                         HasSubstr("  moe_aux_loss_coeff: 0.05\n"), HasSubstr("  ep: 2\n"),
                         HasSubstr("  add_bias_linear: false\n"), Not(HasSubstr("routing"))));
  EXPECT_THAT(
      ConvertedText(start + "\"num_experts\": 4, \"moe_expert_interval\": 2}\n", "gpt-neox"),
      AllOf(HasSubstr("  moe_router_topk: 1\n"), HasSubstr("experts in one of 2 layers"),
            HasSubstr("the release of GPT-NeoX decides the routing")));
  EXPECT_THAT(ConvertedText(start + "\"moe_num_experts\": 1, \"moe_expert_parallel_size\": 1}\n",
                            "gpt-neox"),
              AllOf(Not(HasSubstr("expert")), Not(HasSubstr("moe")), Not(HasSubstr("ep:"))));
}

TEST(ConvertedCaseTest, ExpertsOfTorchtitan) {
  const auto converted = [](const std::string& name, const std::string& flavor) {
    return ConvertedText("[model]\nname = \"" + name + "\"\nflavor = \"" + flavor +
                             "\"\n[training]\nlocal_batch_size = 1\nseq_len = 2048\n"
                             "[parallelism]\nexpert_parallel_degree = 8\n"
                             "expert_tensor_parallel_degree = 1\n",
                         "torchtitan");
  };
  EXPECT_THAT(converted("deepseek_v3", "671B"),
              AllOf(HasSubstr("  num_experts: 256\n"), HasSubstr("  q_lora_rank: 1536\n"),
                    HasSubstr("  moe_router_enable_expert_bias: true\n"), HasSubstr("  ep: 8\n"),
                    HasSubstr("  etp: 1\n"), Not(HasSubstr("num_query_groups")),
                    Not(HasSubstr("balances"))));
  EXPECT_THAT(converted("qwen3", "30B-A3B"),
              AllOf(HasSubstr("  moe_ffn_hidden_size: 768\n"), HasSubstr("  num_query_groups: 4\n"),
                    HasSubstr("to balance them, set model.moe_aux_loss_coeff")));
  EXPECT_THAT(converted("llama4", "17bx16e"),
              AllOf(HasSubstr("deepseek_v3 16B"),
                    HasSubstr("the experts of this model are unknown"), HasSubstr("  ep: 8\n")));
  EXPECT_THAT(converted("llama3", "8B"), Not(HasSubstr("  num_experts")));
}

TEST(ConvertedCaseTest, BiasesOfQueriesKeysAndValues) {
  const std::string command = absl::StrCat("torchrun pretrain_gpt.py ", kShape, "--add-qkv-bias ");
  EXPECT_THAT(ConvertedText(command + "--disable-bias-linear\n"),
              AllOf(HasSubstr("  add_bias_linear: false\n"), HasSubstr("  add_qkv_bias: true\n")));
  EXPECT_THAT(ConvertedText(command + "\n"),
              AllOf(HasSubstr("  add_bias_linear: true\n"), Not(HasSubstr("add_qkv_bias: "))));
}

}  // namespace
}  // namespace trainyard::cli
