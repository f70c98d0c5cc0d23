"""Safetensors files there and back, and everything that can be wrong with them."""

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from specc.convert import ConvertError, convert_to_ours, convert_to_published, to_theirs
from specc.importers.layouts import LAYOUTS
from specc.ir.walk import resize
from specc.pipeline import read_model
from specc.verify.sizes import reduced_sizes
from specc.verify.weights import stress_weights
from specc.weights import WeightsError

ROOT = Path(__file__).parents[3]
LAYERED = ("gpt2", "pythia_160m", "mixtral_8x7b", "gpt_oss_20b", "bert_base")


def small(name):
    model = read_model(ROOT / "specs" / f"{name}.yaml")
    model = resize(model, reduced_sizes(model))
    return model, LAYOUTS[model.layout]


def published(name, dtype=torch.float32):
    model, layout = small(name)
    weights = {path: w.to(dtype) for path, w in stress_weights(model).items()}
    return to_theirs(model, layout, weights).tensors


def there(name, source, target, **more):
    return convert_to_ours(*small(name), source, target, lambda done, size: None, **more)


def back(name, source, target):
    return convert_to_published(*small(name), source, target, lambda done, size: None)


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("name", LAYERED)
def test_there_and_back(name, dtype, tmp_path):
    theirs = published(name, dtype)
    save_file(theirs, tmp_path / "model.safetensors")
    there(name, tmp_path, tmp_path / "ours.safetensors")
    back(name, tmp_path / "ours.safetensors", tmp_path / "back.safetensors")
    same(load_file(tmp_path / "back.safetensors"), theirs)
    assert sorted(os.listdir(tmp_path)) == [
        "back.safetensors",
        "model.safetensors",
        "ours.safetensors",
    ]


def test_tensors_of_several_dtypes_start_at_multiples_of_their_size(tmp_path):
    theirs = published("gpt2", torch.bfloat16)
    theirs["transformer.ln_f.weight"] = theirs["transformer.ln_f.weight"].double()
    save_file(theirs, tmp_path / "model.safetensors")
    there("gpt2", tmp_path, tmp_path / "ours.safetensors")
    content = (tmp_path / "ours.safetensors").read_bytes()
    length = int.from_bytes(content[:8], "little")
    entries = json.loads(content[8 : 8 + length])
    starts = {n: e["data_offsets"][0] for n, e in entries.items() if n != "__metadata__"}
    assert length % 8 == 0
    assert next(iter(starts)) == "norm.weight"
    assert all(start % 2 == 0 for start in starts.values())


def sharded(folder, theirs):
    names = sorted(theirs)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, held in parts.items():
        save_file({name: theirs[name] for name in held}, folder / file)
    index = {"weight_map": {name: file for file, held in parts.items() for name in held}}
    write_index(folder, index)
    return index


def write_index(folder, index):
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def test_shards_give_the_same_file(tmp_path):
    theirs = published("pythia_160m")
    save_file(theirs, tmp_path / "one.safetensors")
    (tmp_path / "shards").mkdir()
    sharded(tmp_path / "shards", theirs)
    there("pythia_160m", tmp_path / "one.safetensors", tmp_path / "x.safetensors")
    there("pythia_160m", tmp_path / "shards", tmp_path / "y.safetensors")
    assert (tmp_path / "x.safetensors").read_bytes() == (tmp_path / "y.safetensors").read_bytes()


def test_what_is_left_out_is_listed(tmp_path):
    theirs = published("gpt2")
    theirs["lm_head.weight"] = theirs["transformer.wte.weight"].clone()
    theirs["transformer.h.0.attn.bias"] = torch.ones(1, 1, 9, 9, dtype=torch.bool)
    save_file(theirs, tmp_path / "model.safetensors")
    summary = there("gpt2", tmp_path, tmp_path / "ours.safetensors")
    assert dict(summary.dropped) == {
        "lm_head.weight": "the same as transformer.wte.weight",
        "transformer.h.0.attn.bias": (
            "a causal mask kept beside the weights: the file computes it"
        ),
    }


def test_names_as_older_files_write_them(tmp_path):
    theirs = published("bert_base")
    old = {n.replace("LayerNorm.weight", "LayerNorm.gamma"): t for n, t in theirs.items()}
    old["bert.embeddings.position_ids"] = torch.arange(9)[None]
    save_file(old, tmp_path / "old.safetensors")
    save_file(theirs, tmp_path / "new.safetensors")
    there("bert_base", tmp_path / "old.safetensors", tmp_path / "x.safetensors")
    there("bert_base", tmp_path / "new.safetensors", tmp_path / "y.safetensors")
    same(load_file(tmp_path / "x.safetensors"), load_file(tmp_path / "y.safetensors"))


def refused(kind, tmp_path, change=lambda theirs: None, source=None):
    """The message of a conversion that fails, after which nothing is left."""
    if source is None:
        theirs = published("pythia_160m")
        change(theirs)
        source = tmp_path / "model.safetensors"
        save_file(theirs, source)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(kind) as caught:
        there("pythia_160m", source, tmp_path / "ours.safetensors")
    assert sorted(os.listdir(tmp_path)) == before
    return str(caught.value)


def test_a_truncated_file(tmp_path):
    source = tmp_path / "model.safetensors"
    save_file(published("pythia_160m"), source)
    source.write_bytes(source.read_bytes()[:-1000])
    assert f"{source}: no whole safetensors file" in refused(ConvertError, tmp_path, source=source)


def test_a_header_that_lies(tmp_path):
    source = tmp_path / "model.safetensors"
    source.write_bytes((1 << 60).to_bytes(8, "little") + b"{}")
    assert "no whole safetensors file" in refused(ConvertError, tmp_path, source=source)


def test_a_missing_shard(tmp_path):
    sharded(tmp_path, published("pythia_160m"))
    (tmp_path / "b.safetensors").unlink()
    text = refused(ConvertError, tmp_path, source=tmp_path)
    assert "shard b.safetensors is missing (14 tensors are in it)" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(x="a.safetensors"), "x is not in its shard a.safetensors"),
        (lambda m: m.pop("embed_out.weight"), "does not list embed_out.weight"),
        (lambda m: m.update(x="../a.safetensors"), "../a.safetensors lies outside its folder"),
        (lambda m: m.update(x=3), "it has no weight_map of file names"),
    ],
)
def test_an_index_that_lies(change, message, tmp_path):
    index = sharded(tmp_path, published("pythia_160m"))
    change(index["weight_map"])
    write_index(tmp_path, index)
    assert message in refused(ConvertError, tmp_path, source=tmp_path)


class Trap:
    """What a pickle could do."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return (Path.touch, (self.file,))


@pytest.mark.parametrize("save", ["torch", "pickle"])
@pytest.mark.parametrize("file", ["pytorch_model.bin", "model.safetensors"])
def test_a_pickle_is_never_read(file, save, tmp_path):
    source, trap = tmp_path / file, tmp_path / "sprung"
    if save == "torch":
        torch.save({"a": Trap(trap)}, source)
    else:
        source.write_bytes(pickle.dumps({"a": Trap(trap)}))
    for given in (source, tmp_path):
        text = refused(ConvertError, tmp_path, source=given)
        assert f"{source}: a pickle, which can run any code" in text
    assert not trap.exists()


def test_a_wrong_dtype(tmp_path):
    def change(theirs):
        name = "gpt_neox.layers.0.attention.dense.weight"
        theirs[name] = theirs[name].to(torch.int8)

    text = refused(WeightsError, tmp_path, change)
    assert text.startswith(
        "gpt_neox.layers.0.attention.dense.weight: dtype I8, and weights are F64"
    )


def test_a_wrong_shape(tmp_path):
    def change(theirs):
        theirs["gpt_neox.layers.1.mlp.dense_h_to_4h.bias"] = torch.ones(3)

    text = refused(WeightsError, tmp_path, change)
    assert text.startswith("gpt_neox.layers.1.mlp.dense_h_to_4h.bias: shape (3,), and the model")


def test_a_missing_and_an_unknown_tensor(tmp_path):
    def change(theirs):
        theirs["gpt_neox.embed_im.weight"] = theirs.pop("gpt_neox.embed_in.weight")

    assert refused(WeightsError, tmp_path, change).splitlines() == [
        "gpt_neox.embed_in.weight: missing; the nearest name is gpt_neox.embed_im.weight",
        (
            "gpt_neox.embed_im.weight: the model has no use for it; the nearest name is"
            " gpt_neox.embed_in.weight"
        ),
    ]


def test_targets_that_are_refused(tmp_path):
    source = tmp_path / "model.safetensors"
    save_file(published("gpt2"), source)
    taken = tmp_path / "taken.safetensors"
    taken.write_bytes(b"mine")
    for target, message in (
        (source, "is the source itself"),
        (taken, "is there already"),
        (tmp_path / "x.bin", "is a .safetensors file"),
        (tmp_path / "no" / "x.safetensors", "no such folder"),
    ):
        with pytest.raises(ConvertError, match=message):
            there("gpt2", source, target)
    assert taken.read_bytes() == b"mine"
    there("gpt2", source, taken, force=True)
    assert len(load_file(taken)) == 28


SLOW = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.unit.convert.test_files import small
from specc.convert import ConvertError, convert_to_ours

def progress(done, size):
    print("writing", flush=True)
    time.sleep({pause})

{before}
try:
    folder = Path({folder!r})
    convert_to_ours(*small("gpt2"), folder, folder / "ours.safetensors", progress)
except ConvertError as error:
    print("refused", error)
"""


def run_slowly(folder, pause, before=""):
    save_file(published("gpt2"), folder / "model.safetensors")
    script = SLOW.format(root=str(ROOT), folder=str(folder), pause=pause, before=before)
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
    )


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="only Linux has nameless files")
def test_a_killed_process_leaves_nothing(tmp_path):
    with run_slowly(tmp_path, pause=60) as process:
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert os.listdir(tmp_path) == ["model.safetensors"]


@pytest.mark.skipif(os.name == "nt", reason="limits of processes are of POSIX")
def test_a_full_disk_leaves_nothing(tmp_path):
    limit = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))"
    )
    with run_slowly(tmp_path, pause=0, before=limit) as process:
        lines = process.stdout.read().splitlines()
    assert lines[-1] == f"refused cannot write {tmp_path / 'ours.safetensors'}: File too large"
    assert os.listdir(tmp_path) == ["model.safetensors"]


def test_a_full_disk_without_nameless_files(tmp_path, monkeypatch):
    save_file(published("gpt2"), tmp_path / "model.safetensors")
    monkeypatch.setattr("specc.convert.writing.DESCRIPTORS", str(tmp_path / "none"))
    writes = []

    def full(descriptor, data):
        writes.append(len(data))
        if len(writes) > 5:
            raise OSError(28, "No space left on device")
        return len(data)

    monkeypatch.setattr("os.write", full)
    with pytest.raises(ConvertError, match="No space left on device"):
        there("gpt2", tmp_path, tmp_path / "ours.safetensors")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["model.safetensors"]
    monkeypatch.setattr("specc.convert.writing.DESCRIPTORS", str(tmp_path / "none"))
    there("gpt2", tmp_path, tmp_path / "ours.safetensors")
    assert len(load_file(tmp_path / "ours.safetensors")) == 28
