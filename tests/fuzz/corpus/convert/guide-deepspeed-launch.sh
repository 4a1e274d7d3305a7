1deepspeed --num_nodes=4 --num_gpus=8 \
--master_addr=node0 --master_port=29500 \
pretrain.py
