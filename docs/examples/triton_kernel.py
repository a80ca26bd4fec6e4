"""Compile a Triton kernel for an MI300 (gfx942) without a GPU; run it as well where there is one.

Triton compiles for a target that is named, whatever the machine has: a broken Triton pin shows on any build host.
The kernel is a small matrix product, with the loop and the `num_stages` that real ones are launched with.

    bisector run --pin triton=3.3.0..3.5.1 --with setuptools==79.0.1 --smoke docs/examples/triton_kernel.py

With Python 3.11 this names triton 3.5.0, whose AMD backend refuses `num_stages=0`; 3.6.0 took it again.
"""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGET = GPUTarget("hip", "gfx942", 64)
BLOCK = 32


@triton.jit
def product(a, b, c, size, BLOCK: tl.constexpr):  # noqa: N803 (as Triton kernels spell them)
    """The product c of two square matrices a and b."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, size, BLOCK):
        inner = start + tl.arange(0, BLOCK)
        left = tl.load(a + rows[:, None] * size + inner[None, :])
        right = tl.load(b + inner[:, None] * size + columns[None, :])
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * size + columns[None, :], total)


signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "size": "i32", "BLOCK": "constexpr"}
source = ASTSource(product, signature, constexprs={"BLOCK": BLOCK})
try:
    compiled = triton.compile(source, target=TARGET, options={"num_stages": 0, "num_warps": 4})
    print(f"triton {triton.__version__}: {len(compiled.asm['amdgcn'])} characters of assembly for {TARGET.arch}")
except Exception as error:
    if "ld.lld" not in str(error):  # releases before 3.5 link with ROCm's own linker, after all that is tested here
        raise
    print(f"triton {triton.__version__}: compiled for {TARGET.arch}, not linked: no ROCm here")

try:
    import torch
except ImportError:
    torch = None
if torch is not None and torch.cuda.is_available():
    size = 4 * BLOCK
    a, b = (torch.randn(size, size, dtype=torch.float16, device="cuda") for _ in range(2))
    c = torch.empty(size, size, dtype=torch.float32, device="cuda")
    product[(size // BLOCK, size // BLOCK)](a, b, c, size, BLOCK=BLOCK)
    torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-2, atol=1e-2)
    print(f"and ran on {torch.cuda.get_device_name()}")
