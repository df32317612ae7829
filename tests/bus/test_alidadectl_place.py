# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl place: a model file or numbers in, a plan out, as a table and as JSON."""

import json
import struct

import pytest

from placement import FAR, FAST, GIB, play
from state_service import record, start

EXIT_ERROR, EXIT_USAGE, EXIT_NO_NODE = 1, 2, 4
LAYERS, LENGTH, HIDDEN, VOCABULARY = 32, 4096, 11008, 32000
KEYS = {"general.architecture": "llama", "general.name": "Example", "llama.block_count": LAYERS,
        "llama.embedding_length": LENGTH, "llama.feed_forward_length": HIDDEN, "llama.context_length": 8192,
        "llama.attention.head_count": 32, "llama.attention.head_count_kv": 8, "llama.vocab_size": VOCABULARY}


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def write_model(path, **more_keys):
    """A GGUF of 7B parameters in f16: its head is real, its tensors are a hole."""
    keys = KEYS | {f"llama.attention.{name}": value for name, value in more_keys.items()}
    shapes = {"token_embd.weight": (LENGTH, VOCABULARY), "output.weight": (LENGTH, VOCABULARY)}
    for i in range(LAYERS):
        shapes |= {f"blk.{i}.attn_q.weight": (LENGTH, LENGTH), f"blk.{i}.attn_k.weight": (LENGTH, LENGTH // 4),
                   f"blk.{i}.attn_v.weight": (LENGTH, LENGTH // 4), f"blk.{i}.attn_output.weight": (LENGTH, LENGTH),
                   f"blk.{i}.ffn_gate.weight": (LENGTH, HIDDEN), f"blk.{i}.ffn_up.weight": (LENGTH, HIDDEN),
                   f"blk.{i}.ffn_down.weight": (HIDDEN, LENGTH)}
    head, offset = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(keys)), 0
    for name, value in keys.items():
        head += text(name) + (struct.pack("<I", 8) + text(value) if isinstance(value, str)
                              else struct.pack("<II", 4, value))
    for name, shape in shapes.items():
        head += text(name) + struct.pack("<IQQIQ", 2, *shape, 1, offset)
        offset += 2 * shape[0] * shape[1]
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + 32 - len(head) % 32 + offset)
    return path


@pytest.fixture
def host(make_host):
    host = start(make_host, activation=("placementd",))
    host.cluster_of_test = play(host)
    return host


NUMBERS = ("--bytes=16G", "--layers=32", "--elements=4096")


def place(host, *args, **options):
    return host.alidadectl("place", *args, **options)


def test_a_model_file(host):
    found = place(host, write_model(host.dir / "model.gguf"), "--context=8192", "--parallel=2")
    said = found.stdout
    assert "Example (llama), 32 layers, 11.1 GiB; context 8192; 2 requests" in said
    assert "proven to be the best" in said and "fast/0000:01:00.0" in said and "0–31" in said
    assert "No path between it and the plan was measured." in said


def kept_bytes(found):
    return sum(stage["KvBytes"] for stage in json.loads(found.stdout)["Stages"] if stage["Alternative"] == 0)


def test_what_a_model_keeps_can_be_stated(host):
    model = write_model(host.dir / "model.gguf", compress_ratio=4)
    found = place(host, model, check=False)
    assert found.returncode == EXIT_ERROR
    assert "attention.compress_ratio: " in found.stderr and "state it with --kv-bytes=" in found.stderr
    kept = [kept_bytes(place(host, model, f"--kv-bytes={size}", "--json")) for size in ("1GiB", "2GiB")]
    assert kept == [GIB, 2 * GIB]


def test_a_window_in_doubt_is_counted_in_full_and_noted(host):
    model = write_model(host.dir / "model.gguf", sliding_window=4096)
    for context, noted in ((4096, False), (8192, True)):
        said = place(host, model, f"--context={context}")
        found = place(host, model, f"--context={context}", "--json")
        assert ("Less memory may do" in said.stdout) == ("Note: Less memory may do" in found.stderr) == noted
        assert kept_bytes(found) == 131072 * context


def test_each_layer_counts_by_itself(host):
    """Three of four layers keep 1536 tokens, the window and a batch."""
    model = write_model(host.dir / "model.gguf", sliding_window=1024, sliding_window_pattern=4)
    assert kept_bytes(place(host, model, "--context=8192", "--json")) == 4096 * (8 * 8192 + 24 * 1536)


def test_json_is_what_the_service_says(host):
    found = json.loads(place(host, *NUMBERS, "--json").stdout)
    assert list(found) == ["Plan", "Stages", "Hops", "Alternatives", "LeftOut", "Sensitivities", "Constants"]
    assert found["Plan"]["Engine"] == "llama.cpp" and found["Stages"][0]["NodeName"] == "fast"
    assert place(host, *NUMBERS, "--json").stdout == place(host, *NUMBERS, "--json").stdout


def test_options_reach_the_service(host):
    found = json.loads(place(host, "--engine=vllm", "--bytes=32G", "--layers=32", "--elements=4096", "--kv-bytes=1G",
                             "--set=GpuMemoryEfficiency=0.5", "--json").stdout)
    assert len([hop for hop in found["Hops"] if hop["Alternative"] == 0]) == 2
    assert {row["Name"]: row["Source"] for row in found["Constants"]}["GpuMemoryEfficiency"] == "options"
    found = json.loads(place(host, *NUMBERS, "--must=far", "--without=slow", "--without=fast/cpu", "--client=far",
                             "--assume=1G,0.3ms", "--json").stdout)
    assert found["Plan"]["ClientName"] == "far" and found["Plan"]["Unmeasured"] == 2
    assert {row["Reason"] for row in found["LeftOut"] if row.get("NodeName") == "slow"} == {"excluded"}


def test_goals_splits_and_rings(host):
    split = ("--split=fast/0000:01:00.0=20", "--split=slow/0000:01:00.0=12")
    found = json.loads(place(host, *NUMBERS, *split, "--max-nodes=2", "--json").stdout)
    assert sorted(stage["Layers"] for stage in found["Stages"] if stage["Alternative"] == 0) == [12, 20]
    found = json.loads(place(host, *NUMBERS, "--engine=vllm", "--goal=both", "--parallel=4", "--json").stdout)
    assert found["Plan"]["StepsInFlight"] == 1
    found = place(host, "--engine=mpi", "--message-bytes=64M", "--without=far")
    assert "all-reduce of 64.0 MiB" in found.stdout and "fast → slow" in found.stdout
    found = place(host, "--bytes=32G", *NUMBERS[1:], "--engine=vllm", env={"COLUMNS": 200}).stdout
    hops = found[found.index("PAYLOAD"):].split("\n\n")[0]
    assert hops.count(" activations ") == hops.count(" tokens ") == 1, "of two stages, the last sends tokens back"
    found = place(host, "--engine=mpi", "--message-bytes=64M", "--without=far", "--json").stdout
    stages = json.loads(found)["Stages"]
    assert not {"Layers", "NeedsBytes", "NSec", "Limiter"} & stages[0].keys()
    exported = host.alidadectl("export", "mpi", "--plan=-", "--force", text_in=found).stdout.splitlines()
    assert exported[-2:] == [stage['HostName'] for stage in stages[:2]]
    assert "digraph plan" in host.alidadectl("export", "dot", "--plan=-", text_in=found).stdout
    found = place(host, "--engine=nccl", "--message-bytes=64M", "--without=far", "--without=slow", "--json").stdout
    assert "--nproc_per_node 1 " in host.alidadectl("export", "torchrun", "--plan=-", text_in=found).stdout


def test_what_one_acts_upon_is_never_cut(host):
    """At 80 columns others give way to names and paths, and what is to be done about a device is wrapped."""
    name, columns = "rack 12 of the far hall, node 3 with a long name", {"COLUMNS": 80}
    split = ("--split=slow/0000:01:00.0=12", f"--split={FAST}/0000:01:00.0=20")
    host.cluster_of_test.take(record(FAR, "Node1.Compute", seq=2, Devices=[]))
    short = place(host, *NUMBERS, *split, env=columns).stdout
    host.cluster_of_test.take(record(FAST, "Node1.Identity", seq=2, FriendlyName=name, HostName="fast.example"))
    long = place(host, *NUMBERS, *split, env=columns).stdout
    for said, fast in ((short, "fast"), (long, name)):
        assert f"\n{fast}/0000:01:00.0 " in said and f"\n{fast} → slow " in said and "…" not in said
        for row in json.loads(place(host, *NUMBERS, *split, "--json").stdout)["LeftOut"]:
            assert row["Text"] in " ".join(said.split())
    assert "socket eth0 → eth0, 192.0.2.2" in short and max(map(len, short.splitlines())) <= 80
    assert f'"{name}/0000:01:00.0" 20' in " ".join(long.split()), "its comma is no end of the name"


def test_no_plan_is_a_failure_with_reasons(host):
    found = place(host, "--bytes=900G", "--layers=32", "--elements=4096", check=False)
    assert found.returncode == EXIT_ERROR
    assert "No plan" in found.stdout and "WHY" in found.stdout and "needs" in found.stdout


WRONG = [
    ((), EXIT_USAGE, "Usage: alidadectl place"),
    (("--bytes=5G",), EXIT_USAGE, "Without a model, also state --layers, --elements\n"),
    (("--layers=3", "--elements=8"), EXIT_USAGE, "also state --bytes\n"),
    (("model.gguf", "--layers=3"), EXIT_USAGE, "exclude each other"),
    (("--bytes=big", "--layers=1", "--elements=1"), EXIT_USAGE, '--bytes: "big" is not a size'),
    (("--bytes=0", "--layers=1", "--elements=1"), EXIT_USAGE, '--bytes: "0" is not a size'),
    (("--bytes=40", "--layers=1", "--elements=1"), EXIT_USAGE, '--bytes: "40" is without a unit: write 40GiB, or 40GB'),
    (("--assume=1,0.3ms", *NUMBERS), EXIT_USAGE, "with units, such as 1Gb/s,0.3ms"),
    (("--engine=abacus", *NUMBERS), EXIT_USAGE, "--engine"),
    (("--assume=fast", *NUMBERS), EXIT_USAGE, "--assume"),
    (("--set=Hats=1", *NUMBERS), EXIT_USAGE, "--set"),
    (("--set=GpuMemoryEfficiency=7", *NUMBERS), EXIT_USAGE, "from 0.01 to 1"),
    (("--goal=glory", *NUMBERS), EXIT_USAGE, "--goal"),
    (("--split=fast", *NUMBERS), EXIT_ERROR, "Split: not of the form"),
    (("model.gguf", "--engine=nccl"), EXIT_USAGE, "runs no model"),
    (("--kv-type=f8", *NUMBERS), EXIT_USAGE, "--kv-type"),
    (("model.gguf", "--engine=vllm", "--kv-type=q4_0"), EXIT_USAGE, "in these types only: f16, bf16"),
    (("--parallel=0", *NUMBERS), EXIT_USAGE, "--parallel"),
    (("--assume=1G,1e12s", *NUMBERS), EXIT_USAGE, "--assume"),
    (("--must=nobody", *NUMBERS), EXIT_NO_NODE, "No such node"),
    (("--must=\udcff", *NUMBERS), EXIT_USAGE, "--must is not UTF-8"),
    (("--without=a/\udcff", *NUMBERS), EXIT_USAGE, "--without is not UTF-8"),
    (("--split=\udcff=3", *NUMBERS), EXIT_USAGE, "--split is not UTF-8"),
    (("--client=\udcff", *NUMBERS), EXIT_USAGE, "--client is not UTF-8"),
    (("/nowhere.gguf",), EXIT_ERROR, "/nowhere.gguf"),
    (("/etc/passwd",), EXIT_ERROR, "/etc/passwd")]


def test_what_is_wrong_is_named(host):
    for args, code, said in WRONG:
        found = place(host, *args, check=False)
        assert (found.returncode, found.stdout) == (code, "") and said in found.stderr, args


def write_folder(folder, architecture="llama"):
    """The same model as safetensors in bf16, which are a hole."""
    folder.mkdir()
    config = {"model_type": architecture, "num_hidden_layers": LAYERS, "hidden_size": LENGTH,
              "intermediate_size": HIDDEN, "num_attention_heads": 32, "num_key_value_heads": 8,
              "vocab_size": VOCABULARY, "max_position_embeddings": 8192}
    (folder / "config.json").write_text(json.dumps(config))
    shapes = {"model.embed_tokens.weight": (VOCABULARY, LENGTH), "lm_head.weight": (VOCABULARY, LENGTH)}
    for i in range(LAYERS):
        layer = f"model.layers.{i}"
        shapes |= {f"{layer}.self_attn.q_proj.weight": (LENGTH, LENGTH),
                   f"{layer}.self_attn.k_proj.weight": (LENGTH // 4, LENGTH),
                   f"{layer}.self_attn.v_proj.weight": (LENGTH // 4, LENGTH),
                   f"{layer}.mlp.up_proj.weight": (HIDDEN, LENGTH)}
    head, offset = {}, 0
    for name, (rows, columns) in shapes.items():
        end = offset + 2 * rows * columns
        head[name] = {"dtype": "BF16", "shape": [rows, columns], "data_offsets": [offset, end]}
        offset = end
    text_head = json.dumps(head).encode()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text_head)) + text_head)
        file.truncate(8 + len(text_head) + offset)
    return folder


def test_the_engine_reads_the_model(host):
    """Without --engine, one that reads the files is taken, and the answer says why others are not."""
    folder, file = write_folder(host.dir / "folder"), write_model(host.dir / "model.gguf")
    for model, engine, other in ((file, "llama.cpp", "torch does not read GGUF"),
                                 (folder, "vllm", "llama.cpp reads GGUF files only")):
        found = json.loads(place(host, model, "--json").stdout)["Plan"]
        assert found["Engine"] == engine and other in found["Notes"][-1], found
        assert f"{engine} was chosen" in place(host, model).stdout
        assert "Notes" not in json.loads(place(host, model, f"--engine={engine}", "--json").stdout)["Plan"]
    for model, engine, said in ((folder, "llama.cpp", "convert_hf_to_gguf.py --outfile MODEL.gguf FOLDER"),
                                (file, "distributed-llama", "does not read GGUF"),
                                (write_folder(host.dir / "other", "gpt_oss"), "distributed-llama",
                                 "choose another engine")):
        refused = place(host, model, f"--engine={engine}", check=False)
        assert (refused.returncode, refused.stdout) == (EXIT_ERROR, "") and said in refused.stderr, refused.stderr
    converted = json.loads(place(host, folder, "--engine=distributed-llama", "--json", check=False).stdout)["Plan"]
    assert "convert-hf.py FOLDER q40 NAME" in converted["Notes"][0]


def test_what_would_fit(host):
    """64 requests of a million tokens do not: the longest context that does is named, and is planned."""
    options = write_model(host.dir / "model.gguf"), "--engine=llama.cpp", "--parallel=64"
    found = json.loads(place(host, *options, "--context=1000000", "--json", check=False).stdout)["Plan"]
    assert "lacks the least" in found["Text"] and found["Problem"] == "no-device", found
    start_of, notes = "It fits with --context=", found["Notes"]
    [context] = [int(note.removeprefix(start_of).rstrip(".")) for note in notes if note.startswith(start_of)]
    assert context % 256 == 0 and place(host, *options, f"--context={context}").returncode == 0
    assert place(host, *options, f"--context={context + 256}", check=False).returncode == EXIT_ERROR
    found = json.loads(place(host, "--bytes=400G", "--layers=400", "--elements=4096", "--json", check=False).stdout)
    assert "too little" in found["Plan"]["Text"] and "more devices with as much room as" in found["Plan"]["Notes"][0]


def test_a_truncated_model(host):
    path = write_model(host.dir / "model.gguf")
    with open(path, "r+b") as file:
        file.truncate(GIB)
    found = place(host, path, check=False)
    assert found.returncode == EXIT_ERROR and "model.gguf" in found.stderr


def test_a_plan_is_exported(host):
    plan = place(host, *NUMBERS, "--client=fast", "--must=fast/0000:01:00.0", "--must=slow/0000:01:00.0",
                 "--json").stdout
    old = host.alidadectl("export", "llama.cpp", "--plan=-", text_in=plan, check=False)
    assert (old.returncode, old.stdout) == (EXIT_ERROR, "") and "--force exports the plan nevertheless" in old.stderr
    text = host.alidadectl("export", "llama.cpp", "--plan=-", "--force", text_in=plan).stdout
    assert "ggml-rpc-server -H 192.0.2.2 -p 50052 -d CUDA0\n" in text and "--rpc 192.0.2.2:50052 " in text
    assert " -c 4096 -np 1" in text
    layers = {row["NodeName"]: row["Layers"] for row in json.loads(plan)["Stages"] if row["Alternative"] == 0}
    devices, split = text.partition("--device ")[2].split()[0], text.partition("--tensor-split ")[2].split()[0]
    by_device = dict(zip(devices.split(","), map(int, split.split(","))))
    assert by_device.keys() == {"RPC0", "CUDA0"} and sum(by_device.values()) == LAYERS + 1
    last = devices.split(",")[-1]
    assert by_device == {"RPC0": layers["slow"] + (last == "RPC0"), "CUDA0": layers["fast"] + (last == "CUDA0")}


def test_commands_state_what_keys_and_values_are_kept_in(host):
    model = write_model(host.dir / "model.gguf")
    for options, kept in (((), ("f16", "f16")), (("--kv-type=q8_0,q4_0",), ("q8_0", "q4_0"))):
        found = place(host, model, "--json", *options).stdout
        assert (json.loads(found)["Plan"]["KvTypeK"], json.loads(found)["Plan"]["KvTypeV"]) == kept
        text = host.alidadectl("export", "llama.cpp", "--plan=-", "--force", text_in=found).stdout
        assert " -ctk %s -ctv %s\n" % kept in text
    found = place(host, model, "--json", "--engine=vllm", "--kv-type=bf16").stdout
    text = host.alidadectl("export", "vllm", "--plan=-", "--force", text_in=found).stdout
    assert " --kv-cache-dtype auto" in text
    assert "KvTypeK" not in json.loads(place(host, *NUMBERS, "--json").stdout)["Plan"]
