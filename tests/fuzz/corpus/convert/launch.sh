4#!/bin/bash
export NCCL_DEBUG=WARN
export MASTER_PORT=29500
cd /home/me/project
deepspeed --num_nodes=4 --num_gpus=8 \
  --master_addr=node0 --master_port=29500 --hostfile=hosts \
  pretrain.py --deepspeed_config ds_config.json --data $DATA > out.log 2>&1
