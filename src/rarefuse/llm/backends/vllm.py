"""vLLM, offline and in batches: open models on a GPU, or a small one on the CPU."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rarefuse.errors import InputError
from rarefuse.llm.backends.base import Answer
from rarefuse.llm.prompt import DECODING, Prompt


@dataclass(frozen=True)
class Vllm:
    """A model that vLLM loads into this process.

    Parameters
    ----------
    model : str
        Hugging Face id, or a folder.
    revision : str, optional
        Revision of the id.
    tensor_parallel_size : int
        GPUs that share the model.
    dtype, quantization : str
        As vLLM takes them.
    gpu_memory_utilization : float
        Share of each GPU's memory that may be used.
    enforce_eager : bool
        Run without compiled graphs: slower on a GPU, needed on the CPU.
    chat_template_kwargs : mapping
        What the model's chat template takes, to switch thinking off.
    """

    model: str
    revision: str | None = None
    tensor_parallel_size: int = 1
    dtype: str = "auto"
    quantization: str | None = None
    gpu_memory_utilization: float = 0.9
    enforce_eager: bool = False
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)

    def answers(self, prompts: Sequence[Prompt], batch: int) -> Iterator[Answer]:
        """Load the model and answer batch after batch; see `Backend`."""
        engine, sampling = self._load()
        tokenizer = engine.get_tokenizer()
        if not tokenizer.chat_template:
            raise InputError(
                "the model has no chat template",
                where=self.model,
                expected="a model made for chat: the protocol uses each model's native template",
                todo="use the instruct or chat variant of the model",
            )
        fitting = []
        for prompt in prompts:
            ids = tokenizer.apply_chat_template(
                prompt.messages,
                add_generation_prompt=True,
                return_dict=False,
                **self.chat_template_kwargs,
            )
            if len(ids) < DECODING["context"]:
                fitting.append(prompt)
            else:
                reason = f"prompt longer than the context of {DECODING['context']} tokens"
                yield Answer(prompt.case_id, prompt_tokens=len(ids), failure=reason, final=True)
        for start in range(0, len(fitting), batch):
            part = fitting[start : start + batch]
            outputs = engine.chat(
                [prompt.messages for prompt in part],
                sampling,
                use_tqdm=False,
                chat_template_kwargs=dict(self.chat_template_kwargs),
            )
            for prompt, output in zip(part, outputs, strict=True):
                (completion,) = output.outputs
                yield Answer(
                    prompt.case_id,
                    text=completion.text,
                    finish_reason=completion.finish_reason,
                    prompt_tokens=len(output.prompt_token_ids),
                    completion_tokens=len(completion.token_ids),
                )

    def _load(self) -> tuple[Any, Any]:
        # Settings that vLLM takes from the environment alone.
        os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
        # As many threads as OMP_NUM_THREADS says; bound, it keeps a core of two for itself.
        os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
        if self.tensor_parallel_size == 1:
            # In this process, so that nothing outlives a killed job.
            os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        try:
            from vllm import LLM, SamplingParams
        except ModuleNotFoundError as error:
            raise InputError(
                "vLLM is not installed",
                found=f"no module '{error.name}'",
                expected="the packages in requirements/llm.txt (CPU), or vllm for your GPU",
                todo="run 'make llm', or ask the model through a server (backend: openai)",
            ) from error
        try:
            engine = LLM(
                model=self.model,
                revision=self.revision,
                tensor_parallel_size=self.tensor_parallel_size,
                dtype=self.dtype,
                quantization=self.quantization,
                gpu_memory_utilization=self.gpu_memory_utilization,
                enforce_eager=self.enforce_eager,
                max_model_len=int(DECODING["context"]),
                seed=0,
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(
                "vLLM cannot load the model",
                where=self.model,
                found=str(error).strip() or repr(error),
                expected="a model that it knows, on a machine that holds it",
                todo="check the model's id and access, dtype, quantization and "
                "tensor_parallel_size in the config",
            ) from error
        sampling = SamplingParams(
            temperature=DECODING["temperature"],
            n=int(DECODING["n"]),
            max_tokens=int(DECODING["max_tokens"]),
        )
        return engine, sampling
