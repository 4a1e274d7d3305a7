0#!/bin/bash
# Training GPT-3 175B with Megatron-LM (example)
GPUS_PER_NODE=8
NNODES=64
TP_SIZE=8 # Tensor Parallelism
PP_SIZE=16 # Pipeline Parallelism
DP_SIZE=$((GPUS_PER_NODE * NNODES / TP_SIZE / PP_SIZE))
# DP_SIZE = 8 * 64 / 8 / 16 = 4
torchrun \
--nproc_per_node $GPUS_PER_NODE \
--nnodes $NNODES \
pretrain_gpt.py \
--num-layers 96 \
--hidden-size 12288 \
--num-attention-heads 96 \
--seq-length 2048 \
--max-position-embeddings 2048 \
--global-batch-size 1536 \
--train-iters 300000 \
--lr 6e-5 \
--lr-decay-style cosine \
--min-lr 6e-6 \
--lr-warmup-fraction 0.001 \
--weight-decay 0.1 \
--tensor-model-parallel-size $TP_SIZE \
--pipeline-model-parallel-size $PP_SIZE \
--micro-batch-size 1 \
--bf16 \
--use-flash-attn \
--sequence-parallel \
--data-path /data/pile_text_document \
--vocab-file /data/gpt2-vocab.json \
--merge-file /data/gpt2-merges.txt \
--save /checkpoints/gpt3-175b \
--load /checkpoints/gpt3-175b
