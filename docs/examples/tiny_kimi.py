"""Load a tiny model of Kimi's kind, with random weights made on the spot, and generate with it.

Kimi K2 is a DeepSeek-V3: multi-head latent attention and a mixture of experts, of which a router picks a few per token.
This script makes such a model small enough for a processor (two layers, eight experts, under a million parameters),
writes it as a checkpoint, loads that as a user would, and compares what the loaded model computes with what the written
one did. It needs no download and takes seconds.

    bisector run --pin transformers=GOOD..BAD --with torch --smoke docs/examples/tiny_kimi.py

It passed with transformers 4.51.3, 5.0.0 and 5.24.0 beside torch 2.15.0; 4.51.0 is the first release that knows the
architecture. On a machine with a GPU that torch can use (CUDA, ROCm) it runs there. Change `CONFIG`, or load your own
checkpoint instead: `--models DIR` mounts it into containers, and `MODELS` says where.
"""

import torch
from transformers import AutoModelForCausalLM, DeepseekV3Config

CONFIG = DeepseekV3Config(
    vocab_size=256,
    hidden_size=64,
    intermediate_size=128,
    moe_intermediate_size=32,
    num_hidden_layers=2,
    first_k_dense_replace=1,  # the first layer is dense, the second a mixture of experts
    num_attention_heads=4,
    num_key_value_heads=4,
    n_shared_experts=1,
    n_routed_experts=8,
    num_experts_per_tok=2,
    n_group=4,
    topk_group=2,
    kv_lora_rank=16,
    q_lora_rank=32,
    qk_rope_head_dim=16,
    qk_nope_head_dim=16,
    v_head_dim=16,
    max_position_embeddings=128,
    bos_token_id=0,
    eos_token_id=1,
    pad_token_id=1,
)
PROMPT = torch.tensor([[0, 72, 101, 108, 108, 111]])
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"  # ROCm's devices are called cuda, too

torch.manual_seed(0)
written = AutoModelForCausalLM.from_config(CONFIG).eval()
written.save_pretrained("checkpoint")
with torch.no_grad():
    expected = written(PROMPT).logits

model = AutoModelForCausalLM.from_pretrained("checkpoint").eval()
with torch.no_grad():
    logits = model(PROMPT).logits
assert torch.isfinite(logits).all(), "the loaded model computes infinities"
torch.testing.assert_close(logits, expected, msg="the loaded model computes something else than the one written")

model = model.to(DEVICE)
tokens = model.generate(PROMPT.to(DEVICE), max_new_tokens=8, min_new_tokens=8, do_sample=False)
assert tokens.shape == (1, PROMPT.shape[1] + 8), tokens.shape
size = sum(parameter.numel() for parameter in model.parameters())
print(f"torch {torch.__version__} on {DEVICE}, {size} parameters: {tokens[0].tolist()}")
