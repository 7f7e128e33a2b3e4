"""What the source may not contain, and whose compiled kernels are loaded.

Archives are in corpus/test_phenopackets.py and sources/test_fetch.py, escaping in report/, damaged
checkpoints in fusion/test_gate.py and rerank/test_training.py, planted keys in llm/ and e2e/.
"""

import ast
import os
import re
import tempfile
from pathlib import Path

import pytest

from rarefuse import compiled

ROOT = Path(__file__).resolve().parents[1]
# Modules that run code while they read data.
EXECUTING = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
# Last part of the name of a function → what is wrong with it.
FORBIDDEN = {
    "eval": "runs text", "exec": "runs text", "system": "runs a shell", "popen": "runs a shell",
    "getoutput": "runs a shell", "getstatusoutput": "runs a shell",
    "create_subprocess_shell": "runs a shell", "read_pickle": "reads a pickle",
    "to_pickle": "writes a pickle", "unsafe_load": "builds any object",
    "unsafe_load_all": "builds any object", "full_load": "builds any object",
    "full_load_all": "builds any object", "mktemp": "gives a name that others may take",
    "extractall": "unpacks unchecked paths", "extract": "unpacks unchecked paths",
    "unpack_archive": "unpacks unchecked paths",
}  # fmt: skip


def dotted(node):
    """Name of what is called: ``yaml.load`` → that; the last part alone of anything else."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else f".{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def keyword(call, name):
    found = [k.value for k in call.keywords if k.arg == name]
    return found[0] if found else None


def is_true(node):
    return isinstance(node, ast.Constant) and node.value is True


def safe_loaders(tree):
    """Names of the classes in a module that build on PyYAML's safe loader."""
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(dotted(base).endswith("SafeLoader") for base in node.bases)
    } | {"SafeLoader", "CSafeLoader"}


def complaints(source):
    """What a module does that it may not: (line, what)."""
    tree = ast.parse(source)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *names]
            found += [
                (node.lineno, f"imports {name}")
                for name in names
                if name.split(".")[0] in EXECUTING
            ]
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        last = name.rpartition(".")[2]
        if is_true(keyword(node, "shell")):
            found.append((node.lineno, f"{name} runs a shell"))
        if is_true(keyword(node, "allow_pickle")):
            found.append((node.lineno, f"{name} reads a pickle"))
        if last in ("load", "load_all") and name.split(".")[0] == "yaml":
            loader = keyword(node, "Loader") or (node.args[1] if len(node.args) > 1 else None)
            if loader is None or dotted(loader).rpartition(".")[2] not in safe_loaders(tree):
                found.append((node.lineno, f"{name} builds any object"))
        if name == "torch.load" and not is_true(keyword(node, "weights_only")):
            found.append((node.lineno, f"{name} reads a pickle"))
        verify = keyword(node, "verify")
        if isinstance(verify, ast.Constant) and verify.value is False:
            found.append((node.lineno, f"{name} trusts any certificate"))
        # A method of a column of data, such as str.extract, has the name of an archive's.
        of_data = ".str." in f".{name}" or name.startswith(("pl.", "polars."))
        if last in FORBIDDEN and not of_data and not name.startswith("re."):
            found.append((node.lineno, f"{name} {FORBIDDEN[last]}"))
    return found


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import pickle", "imports pickle"),
        ("from joblib import load", "imports joblib"),
        ("import numpy as np\nnp.load('a', allow_pickle=True)", "np.load reads a pickle"),
        ("import yaml\nyaml.load(text)", "yaml.load builds any object"),
        ("import yaml\nyaml.load(text, yaml.Loader)", "yaml.load builds any object"),
        ("import yaml\nyaml.load(text, Loader=yaml.FullLoader)", "yaml.load builds any object"),
        ("import torch\ntorch.load(path)", "torch.load reads a pickle"),
        ("import subprocess\nsubprocess.run('ls', shell=True)", "subprocess.run runs a shell"),
        ("import os\nos.system('ls')", "os.system runs a shell"),
        ("eval(text)", "eval runs text"),
        ("archive.extractall(folder)", "archive.extractall unpacks unchecked paths"),
        ("requests.get(url, verify=False)", "requests.get trusts any certificate"),
    ],
)
def test_the_search_finds_what_it_looks_for(source, what):
    assert [found for _, found in complaints(source)] == [what]


@pytest.mark.parametrize(
    "source",
    [
        "import yaml\nyaml.safe_load(text)",
        "import yaml\nclass L(yaml.SafeLoader):\n    pass\nyaml.load(text, L)",
        "import torch\ntorch.load(path, weights_only=True)",
        "frame.with_columns(pl.col('a').str.extract('(b)'))",
        "model.eval_loss(x)",
    ],
)
def test_the_search_leaves_what_is_safe(source):
    assert complaints(source) == []


def test_no_module_runs_what_it_reads():
    modules = sorted((ROOT / "src").rglob("*.py"))
    assert len(modules) > 100
    found = {
        str(path.relative_to(ROOT)): unsafe
        for path in modules
        if (unsafe := complaints(path.read_text("utf-8")))
    }
    assert found == {}


def test_rules_quote_every_path():
    """A blank or a quotation mark in a path of the config must not end a word of a command."""
    bare = re.compile(r"\{(?:input|output|log|params\.(?:registry|state|corpus))[\w.\[\]]*\}")
    rules = sorted((ROOT / "rules").glob("*.smk"))
    shells = [s for path in rules for s in path.read_text("utf-8").split("    shell:\n")[1:]]
    assert len(shells) > 25
    commands = [shell.split("\n\n\n")[0] for shell in shells]
    assert [found for command in commands for found in bare.findall(command)] == []


@pytest.fixture
def homeless(tmp_path, monkeypatch):
    """No cache folder but the one that has a name anybody can guess."""
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("RAREFUSE_CACHE", str(file))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"cache-{os.getuid()}"


def test_kernels_are_cached_in_a_folder_of_ones_own(homeless):
    folder = compiled.cache_folder()
    assert folder.is_relative_to(homeless)
    assert homeless.stat().st_mode & 0o777 == 0o700
    assert compiled.cache_folder() == folder


def test_kernels_of_others_are_not_loaded(homeless):
    """Whoever made the folder first may have put kernels there."""
    homeless.mkdir()
    homeless.chmod(0o777)
    folder = compiled.cache_folder()
    assert folder.is_dir()
    assert not folder.is_relative_to(homeless)
    homeless.rmdir()
    (homeless.parent / "elsewhere").mkdir()
    homeless.symlink_to("elsewhere")
    assert not compiled.cache_folder().resolve().is_relative_to(homeless.parent / "elsewhere")
