9# torchtitan - PyTorch-native LLM training
# A modern pre-training framework developed by Meta
# torchtitan configuration (TOML format)
config = """
[model]
name = "llama3"
flavor = "8B"
tokenizer_path = "./original/tokenizer.model"
[optimizer]
name = "AdamW"
lr = 3e-4
[training]
batch_size = 8
seq_len = 8192
max_norm = 1.0
steps = 10000
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1 # FSDP2
tensor_parallel_degree = 1
compile = true # Enable torch.compile
[checkpoint]
enable_checkpoint = true
folder = "outputs/checkpoint"
interval_type = "steps"
interval = 500
"""
