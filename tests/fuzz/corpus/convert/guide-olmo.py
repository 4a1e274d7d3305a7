0# OLMo training configuration (simplified)
from olmo import TrainConfig, ModelConfig, OptimizerConfig
train_config = TrainConfig(
model=ModelConfig(
d_model=4096,
n_heads=32,
n_layers=32,
mlp_ratio=8/3,
vocab_size=50280,
max_sequence_length=2048,
attention_type="flash",
),
optimizer=OptimizerConfig(
name="adamw",
learning_rate=3e-4,
weight_decay=0.1,
betas=(0.9, 0.95),
),
max_duration="300000ba", # 300,000 batches
global_train_batch_size=2048,
device_train_microbatch_size=2,
precision="bf16",
fsdp_config={
"wrapping_strategy": "by_block",
"precision": "bf16",
"sharding_strategy": "FULL_SHARD",
},
)
