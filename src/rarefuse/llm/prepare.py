"""Unpack a pinned GGUF file into a model folder that vLLM loads: safetensors, tokenizer, config."""

import os
import shutil
import tempfile
from pathlib import Path

from rarefuse.errors import InputError


def prepare_model(gguf: Path, output: Path) -> None:
    """Unpack `gguf` into the folder `output`.

    The weights are dequantised to bfloat16, since vLLM's CPU build reads no GGUF; the chat
    template comes along. The folder appears whole or not at all.

    Parameters
    ----------
    gguf : Path
        Model file, verified by the caller.
    output : Path
        Folder to make; one that is there is replaced.

    Raises
    ------
    InputError
        If the packages for it are missing, or the file cannot be read as a model.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # everything is in the file
    try:
        import accelerate  # noqa: F401 - transformers reads GGUF with it and says so too late
        import gguf as _  # noqa: F401
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ModuleNotFoundError as error:
        raise InputError(
            "the packages for language models are not installed",
            found=f"no module '{error.name}'",
            expected="the packages in requirements/llm.txt",
            todo="run 'make llm', or take the arm out of evaluation.llms",
        ) from error
    folder, file = str(gguf.parent), gguf.name
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as work:
        made = Path(work) / "model"
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
            packed = AutoModelForCausalLM.from_pretrained(
                folder, gguf_file=file, dtype=torch.bfloat16
            )
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                "a model file cannot be read",
                where=str(gguf),
                found=str(error).splitlines()[0],
                expected="a GGUF file of an architecture that transformers knows",
                todo="fetch it again",
            ) from error
        # A plain model takes the weights: one that remembers GGUF cannot be saved.
        del packed.config.quantization_config
        model = AutoModelForCausalLM.from_config(packed.config, dtype=torch.bfloat16)
        model.load_state_dict(packed.state_dict())
        model.save_pretrained(made)
        tokenizer.save_pretrained(made)
        shutil.rmtree(output, ignore_errors=True)
        made.rename(output)
