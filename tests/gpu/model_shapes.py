"""Shapes of the models that tests/gpu measures, for ours and for the peers."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class ModelShape:
    """A decoder; sizes in elements, sequence_length in tokens.

    `family` has the settings of `model` in which it is not LLaMA, as in a job file.
    """

    layers: int
    heads: int
    key_heads: int
    hidden: int
    ffn: int
    vocabulary: int
    sequence_length: int
    rotary_base: float
    tied: bool = False
    norm_epsilon: float = 1e-5
    family: dict = dataclasses.field(default_factory=dict)

    @property
    def head_size(self):
        """Elements of one attention head."""
        return self.family.get("kv_channels", self.hidden // self.heads)

    @property
    def has_latent_attention(self):
        return self.family.get("multi_latent_attention", False)

    @property
    def experts(self):
        """Routed experts of a layer; 0 for a dense model."""
        return self.family.get("num_experts", 0)


GPT2 = {"normalization": "layer_norm", "add_bias_linear": True, "activation": "gelu_tanh",
        "position_embedding_type": "learned_absolute", "max_position_embeddings": 1024}
NEOX = {"normalization": "layer_norm", "add_bias_linear": True, "activation": "gelu",
        "rotary_percent": 0.25, "parallel_residual": True}
MIXTRAL = {"num_experts": 8, "moe_router_topk": 2}
# The routed and shared experts and the attention of DeepSeek-V3, with the sizes of V2-Lite.
DEEPSEEK = {"num_experts": 64, "moe_router_topk": 6, "moe_ffn_hidden_size": 1408,
            "moe_shared_expert_intermediate_size": 2 * 1408, "moe_dense_layers": 1,
            "moe_router_score_function": "sigmoid", "moe_router_enable_expert_bias": True,
            "moe_router_load_balancing_type": "none",
            "multi_latent_attention": True, "q_lora_rank": 768, "kv_lora_rank": 512,
            "qk_head_dim": 128, "qk_pos_emb_head_dim": 64, "v_head_dim": 128}

MODELS = {
    "llama-1.5b": ModelShape(layers=18, heads=16, key_heads=8, hidden=2048, ffn=7168,
                             vocabulary=128256, sequence_length=2048, rotary_base=5e5),
    "llama3-8b": ModelShape(layers=32, heads=32, key_heads=8, hidden=4096, ffn=14336,
                            vocabulary=128256, sequence_length=8192, rotary_base=5e5),
    "gpt-162m": ModelShape(layers=12, heads=12, key_heads=12, hidden=768, ffn=2048,
                           vocabulary=50304, sequence_length=1024, rotary_base=1e4),
    "gpt2-124m": ModelShape(layers=12, heads=12, key_heads=12, hidden=768, ffn=3072,
                            vocabulary=50304, sequence_length=1024, rotary_base=1e4, tied=True,
                            family=GPT2),
    "llama-124m": ModelShape(layers=12, heads=12, key_heads=12, hidden=768, ffn=2048,
                             vocabulary=50304, sequence_length=1024, rotary_base=1e4, tied=True),
    "llama-350m": ModelShape(layers=24, heads=16, key_heads=16, hidden=1024, ffn=2816,
                             vocabulary=50304, sequence_length=1024, rotary_base=1e4, tied=True),
    "qwen3-0.6b": ModelShape(layers=28, heads=16, key_heads=8, hidden=1024, ffn=3072,
                             vocabulary=151936, sequence_length=2048, rotary_base=1e6, tied=True,
                             norm_epsilon=1e-6, family={"kv_channels": 128, "qk_layernorm": True}),
    "olmo-1b": ModelShape(layers=16, heads=16, key_heads=16, hidden=2048, ffn=8192,
                          vocabulary=50304, sequence_length=2048, rotary_base=1e4, tied=True,
                          family={"normalization": "layer_norm", "norm_weights": False}),
    "neox-1.4b": ModelShape(layers=24, heads=16, key_heads=16, hidden=2048, ffn=8192,
                            vocabulary=50304, sequence_length=2048, rotary_base=1e4, family=NEOX),
    "llama2-1.36b": ModelShape(layers=18, heads=18, key_heads=18, hidden=2304, ffn=6144,
                               vocabulary=32000, sequence_length=2048, rotary_base=1e4),
    "qwen3-1.8b": ModelShape(layers=24, heads=16, key_heads=8, hidden=2048, ffn=6144,
                             vocabulary=151936, sequence_length=2048, rotary_base=1e6,
                             norm_epsilon=1e-6, family={"qk_layernorm": True}),
    "llama3-2.2b": ModelShape(layers=30, heads=16, key_heads=8, hidden=2048, ffn=7168,
                              vocabulary=128256, sequence_length=2048, rotary_base=5e5),
    "llama3-3b": ModelShape(layers=28, heads=24, key_heads=8, hidden=3072, ffn=8192,
                            vocabulary=128256, sequence_length=4096, rotary_base=5e5, tied=True),
    "llama2-7b": ModelShape(layers=32, heads=32, key_heads=32, hidden=4096, ffn=11008,
                            vocabulary=32000, sequence_length=4096, rotary_base=1e4),
    "gpt2-350m": ModelShape(layers=24, heads=16, key_heads=16, hidden=1024, ffn=4096,
                            vocabulary=50304, sequence_length=1024, rotary_base=1e4, tied=True,
                            family=GPT2),
    "gpt2-760m": ModelShape(layers=36, heads=20, key_heads=20, hidden=1280, ffn=5120,
                            vocabulary=50304, sequence_length=1024, rotary_base=1e4, tied=True,
                            family=GPT2),
    "gpt2-1.5b": ModelShape(layers=48, heads=25, key_heads=25, hidden=1600, ffn=6400,
                            vocabulary=50304, sequence_length=1024, rotary_base=1e4, tied=True,
                            family=GPT2),
    # 3.05 B parameters; 0.94 B active parameters per token.
    "m8": ModelShape(layers=8, heads=16, key_heads=8, hidden=2048, ffn=7168, vocabulary=32000,
                     sequence_length=2048, rotary_base=1e6, family=MIXTRAL),
    # 3.41 B parameters; 0.90 B active parameters per token.
    "d64": ModelShape(layers=6, heads=16, key_heads=16, hidden=2048, ffn=10944, vocabulary=102400,
                      sequence_length=4096, rotary_base=1e4, norm_epsilon=1e-6, family=DEEPSEEK),
    # The shape of recipes/llama-tiny-cpu.yaml.
    "llama-tiny": ModelShape(layers=4, heads=6, key_heads=2, hidden=192, ffn=512,
                             vocabulary=2048, sequence_length=128, rotary_base=1e4, tied=True),
}
