1# Megatron-DeepSpeed integration configuration
deepspeed_config = {
"train_batch_size": 2048,
"train_micro_batch_size_per_gpu": 1,
"gradient_accumulation_steps": 256, # 2048 / (8 DP * 1 micro)
"bf16": {"enabled": True},
"zero_optimization": {
"stage": 1, # Use ZeRO-1 alongside TP+PP
},
"gradient_clipping": 1.0,
"wall_clock_breakdown": True,
"steps_per_print": 10
}
