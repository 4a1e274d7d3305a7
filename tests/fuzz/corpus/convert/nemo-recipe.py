6"""A run of NeMo 2: a recipe and what it is changed to."""
import nemo_run as run
from nemo.collections import llm

recipe = llm.llama3_8b.pretrain_recipe(
    dir="/checkpoints/llama3",
    name="llama3_pretraining",
    num_nodes=2,
    num_gpus_per_node=8,
)
recipe.trainer.strategy.tensor_model_parallel_size = 2
recipe.trainer.strategy.sequence_parallel = True
recipe.trainer.max_steps = 1000
recipe.trainer.val_check_interval = 100
recipe.data.global_batch_size = 512
recipe.data.micro_batch_size = 1
recipe.data.seq_length = 8192
recipe.optim.config.lr = 3e-4
recipe.optim.config.adam_beta2 = 0.95
recipe.optim.lr_scheduler.warmup_steps = 2000
recipe.optim.lr_scheduler.min_lr = 3e-5
recipe.trainer.callbacks = [TimingCallback()]
recipe.tuner = find_tuner("llama3")

if __name__ == "__main__":
    run.run(recipe, executor=run.LocalExecutor(ntasks_per_node=8, launcher="torchrun"))
