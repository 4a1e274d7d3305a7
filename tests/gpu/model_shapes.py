"""Shapes of the models that tests/gpu measures, for ours and for the peers."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class ModelShape:
    """A decoder of the LLaMA family; sizes in elements, sequence_length in tokens."""

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

    @property
    def head_size(self):
        """Elements of one attention head."""
        return self.hidden // self.heads


MODELS = {
    "llama-1.5b": ModelShape(layers=18, heads=16, key_heads=8, hidden=2048, ffn=7168,
                             vocabulary=128256, sequence_length=2048, rotary_base=5e5),
    "llama3-8b": ModelShape(layers=32, heads=32, key_heads=8, hidden=4096, ffn=14336,
                            vocabulary=128256, sequence_length=8192, rotary_base=5e5),
    "llama3-8b-32k": ModelShape(layers=32, heads=32, key_heads=8, hidden=4096, ffn=14336,
                                vocabulary=128256, sequence_length=32768, rotary_base=5e5),
    "gpt-162m": ModelShape(layers=12, heads=12, key_heads=12, hidden=768, ffn=2048,
                           vocabulary=50304, sequence_length=1024, rotary_base=1e4),
    # The shape of recipes/llama-tiny-cpu.yaml.
    "llama-tiny": ModelShape(layers=4, heads=6, key_heads=2, hidden=192, ffn=512,
                             vocabulary=2048, sequence_length=128, rotary_base=1e4, tied=True),
}
