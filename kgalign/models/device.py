"""The device that neural models compute on."""

from __future__ import annotations

import torch

from kgalign.errors import OptionError


def pick_device(name: str) -> torch.device:
    """The device of that name: cpu, cuda, or auto for the GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name if name.startswith(("cpu", "cuda")) else "none")
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        raise OptionError(f"device={name}: PyTorch cannot use it here; expected auto, cpu or cuda") from None
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    return device
