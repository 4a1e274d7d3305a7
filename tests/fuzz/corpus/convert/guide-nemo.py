0from nemo.collections.llm import GPTConfig7B, pretrain
from nemo.lightning import MegatronStrategy

# Load a pre-defined recipe
config = GPTConfig7B()

# Override specific settings for your hardware
config.trainer.num_nodes = 4
config.trainer.devices = 8  # GPUs per node
config.model.tensor_model_parallel_size = 1
config.model.pipeline_model_parallel_size = 1

pretrain(config)
