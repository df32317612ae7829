# SPDX-License-Identifier: LGPL-2.1-or-later
"""What plans predict for machines and models of which others have published tokens per second.

data/published.json has the results with their sources, the models as their files are, and the devices. The planner is
given the rate at which a device was measured to read, or what its data sheet promises times the share of that which is
usually measured. Results that constants of the planner were derived from do not count as predictions.
"""

import json
import statistics
from pathlib import Path

from placing import planner

DATA = Path(__file__).resolve().parents[1] / "data/published.json"
PLACEMENT, PATH = "org.alidade.Placement1", "/org/alidade/Placement1"
GIB = 1 << 30
# Of the theoretical rate, what a read measures: 921 of 1008 GB/s on an RTX 4090, 232 of 256 on a Ryzen AI Max+ 395,
# 11.6 of 17.1 on a Raspberry Pi 5.
GPU_READ, PROCESSOR_READ = 0.91, 0.68
MUCH = 40  # percent; what is off by more has its reason in the table
WORDS = {"Layers", "LayerBytes", "LayerKvBytes", "Experts", "UsedExperts", "EmbeddingBytes", "HeadBytes",
         "ActivationElements", "Vocabulary", "KvHeads", "FeedForwardElements", "Parallel", "Context"}


def workload(model, result):
    """The Workload of Plan() for a model; its layers are assumed to be alike."""
    layers, width = model["layers"], model["embedding"]
    embedding = model["vocabulary"] * width * model["embedding_bits"] / 8
    head = embedding if model.get("tied") else model["vocabulary"] * width * model["head_bits"] / 8
    outside = model["vocabulary"] * width * (1 if model.get("tied") else 2)
    size = (model["file_gib"] * GIB - embedding - (0 if model.get("tied") else head)) / layers
    parameters = (model["parameters"] - outside) / layers
    unused = unused_parameters = 0
    if "experts" in model:
        experts = model.get("expert_layers", layers) * model["experts"] * 3 * width * model["expert_width"] / layers
        share = 1 - model["used_experts"] / model["experts"]
        unused, unused_parameters = share * experts * model["expert_bits"] / 8, share * experts
    parallel, context = result.get("parallel", 1), result["context"]
    kv = layers_kv = 2 * 2 * model["kv_heads"] * model["head_length"] * context
    found = {"Layers": layers, "LayerBytes": round(size), "LayerKvBytes": round(layers_kv * parallel),
             "MeanLayerBytes": size, "TokenBytes": size - unused, "TokenKvBytes": float(kv),
             "TokenParameters": parameters - unused_parameters, "EmbeddingBytes": round(embedding),
             "HeadBytes": round(head), "HeadTied": bool(model.get("tied")),
             "HeadParameters": float(model["vocabulary"] * width), "ActivationElements": width,
             "Vocabulary": model["vocabulary"], "KvHeads": model["kv_heads"],
             "FeedForwardElements": model["feed_forward"], "Parallel": parallel, "Context": context}
    if "experts" in model:
        found |= {"Experts": model["experts"], "UsedExperts": model["used_experts"]}
    return found


def rates(device):
    """{which: bytes per second}: by the data sheet, and as measured, if somebody has."""
    share = PROCESSOR_READ if device.get("processor") else GPU_READ
    found = {"sheet": device["sheet_gbps"] * 1e9 * share}
    return found | ({"measured": device["read_gbps"] * 1e9} if "read_gbps" in device else {})


class Predictor:
    """Plans with the machines of one result after the other."""

    def __init__(self, plan, table):
        self.plan, self.table, self.nodes = plan, table, 0
        from bedlib.variants import Typed
        self.typed = Typed
        self.constants = None

    def _records(self, node, names, which):
        record, rows, measured, system = self.plan.service.record, [], [], []
        memory = 512 * GIB
        for index, name in enumerate(names):
            device = self.table["devices"][name]
            identity = "cpu" if device.get("processor") else f"0000:{index + 1:02x}:00.0"
            size = round(device["gib"] * GIB)
            row = {"Id": identity, "Class": "cpu" if device.get("processor") else "gpu", "Name": f"{name} {self.nodes}",
                   "Unified": bool(device.get("processor") or device.get("unified"))}
            if "vendor" in device:
                row["Vendor"] = device["vendor"]
            if row["Unified"]:
                memory = size
            else:
                row["MemoryTotalBytes"] = size
                system.append({"Id": identity, "MemoryUsedBytes": 0})
            rows.append(row)
            tflops = float(device["tflops"])
            measured.append({"Id": identity, "TflopsFp16": tflops, "GemmTflops": tflops,
                             "MemoryBandwidthBytesPerSecond": round(rates(device)[which]), "MeasuredUSec": 1})
        return [record(node, "Node1.Identity", FriendlyName=f"host{self.nodes}", HostName=f"host{self.nodes}.example"),
                record(node, "Node1.Memory", TotalBytes=memory, AvailableBytes=memory),
                record(node, "Node1.Backends", Devices=rows), record(node, "Node1.System", Devices=system),
                record(node, "Node1.Compute", Devices=measured)]

    def _play(self, result, which):
        """The ids of its nodes, and their devices."""
        nodes, devices = [], []
        for names in result["nodes"]:
            self.nodes += 1
            node = self.plan.service.node_id(self.nodes)
            self.plan.cluster.online(node)
            records = self._records(node, names, which)
            self.plan.cluster.take(*records)
            nodes.append(node)
            devices += [f"{node}/cpu" if self.table["devices"][name].get("processor")
                        else f"{node}/0000:{index + 1:02x}:00.0" for index, name in enumerate(names)]
        return nodes, devices

    def _options(self, result, nodes, devices):
        found = {"Engine": self.typed("s", result["engine"]), "Must": self.typed("as", nodes),
                 "MaxNodes": self.typed("t", len(nodes))}
        if "split" in result:
            pairs = zip(devices, result["split"], strict=True)
            found["Split"] = self.typed("as", [f"{device}={layers}" for device, layers in pairs])
        if result["engine"] in ("llama.cpp", "distributed-llama"):
            found["Client"] = self.typed("s", nodes[0])
        if "network" in result:
            found["AssumedBitsPerSecond"] = self.typed("t", round(result["network"]["bits_per_second"]))
            found["AssumedRttNSec"] = self.typed("t", round(result["network"]["rtt_us"] * 1000))
        if "library" in result:
            found["LayerNSec"] = self.typed("d", self.constants[f"{result['library']}LayerNSec"])
        return found

    def _call(self, asked, options):
        typed = {name: self.typed("t" if name in WORDS else "b" if name == "HeadTied" else "d", value)
                 for name, value in asked.items()}
        found = self.plan.host.call(PLACEMENT, PATH, PLACEMENT, "Plan", "a{sv}a{sv}", (typed, options))
        self.constants = self.constants or {row["Name"]: row["Value"] for row in found[6]}
        return found

    def predict(self, result, which):
        """Tokens per second."""
        nodes, devices = self._play(result, which)
        asked = workload(self.table["models"][result["model"]], result)
        if not self.constants:
            self._call(asked, {"Engine": self.typed("s", "llama.cpp")})
        plan = self._call(asked, self._options(result, nodes, devices))[0]
        if "Problem" in plan:
            raise SystemExit(f"{result['model']} on {result['nodes']}: {plan['Text']}")
        return plan["TokensPerSecond"]


def machine_of(result):
    return " + ".join(f"{len(names)} {names[0]}" if len(names) > 1 else names[0] for names in result["nodes"])


def row_of(predictor, result):
    row = {"model": result["model"], "machine": machine_of(result), "engine": result["engine"],
           "parallel": result.get("parallel", 1), "published": result["tokens_per_second"], "source": result["source"]}
    known = rates(predictor.table["devices"][result["nodes"][0][0]])
    for which in known:
        predicted = predictor.predict(result, which)
        row[f"{which}_predicted"] = round(predicted, 2)
        row[f"{which}_err_percent"] = round(100 * (predicted / result["tokens_per_second"] - 1), 1)
    row["err_percent"] = row.get("measured_err_percent", row["sheet_err_percent"])
    return row | {name: result[name] for name in ("reason", "derived") if name in result}


def median_of(rows, name):
    found = [abs(row[name]) for row in rows if name in row]
    return round(statistics.median(found), 1)


def summary(rows):
    judged = [row for row in rows if "derived" not in row]
    return {"published_results": len(judged), "published_err_median_percent": median_of(judged, "err_percent"),
            "published_sheet_err_median_percent": median_of(judged, "sheet_err_percent"),
            "published_measured_err_median_percent": median_of(judged, "measured_err_percent"),
            "published_err_most_percent": max(abs(row["err_percent"]) for row in judged),
            "published_unexplained": sum(abs(row["err_percent"]) > MUCH and "reason" not in row for row in judged),
            "published_derived_err_median_percent": median_of([row for row in rows if "derived" in row], "err_percent")}


def run(build, told):
    table = json.loads(DATA.read_text(encoding="utf-8"))
    rows = []
    with planner.Planner(build) as plan:
        predictor = Predictor(plan, table)
        for result in table["results"]:
            rows.append(row_of(predictor, result))
            told(f"{rows[-1]['model']} on {rows[-1]['machine']}: {rows[-1]['err_percent']:+.1f} %")
    return {**summary(rows), "published": rows}
