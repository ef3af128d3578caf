"""Loaders that drop the draft head, in the ways that runtimes do it."""

import re
from dataclasses import dataclass

DRAFT = ("model.mtp.", "mtp_head.")
LAYER = re.compile(r"model\.layers\.(\d+)\.")


@dataclass
class ModelArgs:
    num_hidden_layers: int = 30


class ByPrefix:
    def sanitize(self, weights):
        return {
            k: v
            for k, v in weights.items()
            if "inv_freq" not in k and not k.startswith("model.mtp")  # expect: MLA201 drop nofix
        }


class ByContinue:
    def sanitize(self, weights):
        out = {}
        for k, v in weights.items():
            if k.endswith("inv_freq") or ".mtp" in k:  # expect: MLA201 drop nofix
                continue
            out[k] = v
        return out


class ByStore:
    def sanitize(self, weights):
        out = {}
        for k, v in weights.items():
            if "nextn_predict" not in k:  # expect: MLA201 drop nofix
                out[k.replace("gate", "router")] = v
        return out


class ByConstant:
    def sanitize(self, weights):
        for k in list(weights):
            if k.startswith(DRAFT):  # expect: MLA201 drop nofix
                del weights[k]
        return weights


class ByPop:
    def sanitize(self, weights):
        for k in list(weights):
            if any(k.startswith(p) for p in DRAFT):  # expect: MLA201 drop nofix
                weights.pop(k)
        return weights


class ByLastLayer:
    def sanitize(self, weights):
        behind = self.args.num_hidden_layers
        return {
            k: v
            for k, v in weights.items()
            if not k.startswith(f"model.layers.{behind}")  # expect: MLA201 drop nofix
        }


class ByLayerNumber:
    def sanitize(self, weights):
        return {
            k: v
            for k, v in weights.items()
            if not k.startswith("model.layers.61")  # expect: MLA201 drop nofix
        }


class ByLayerIndex:
    def sanitize(self, weights):
        out = {}
        for k, v in weights.items():
            parts = k.split(".")
            if parts[1] == "layers" and int(parts[2]) >= self.args.num_hidden_layers:  # expect: MLA201 drop nofix
                continue
            out[k] = v
        return out


class ByLayerIndexKept:
    def sanitize(self, weights):
        return {
            k: v
            for k, v in weights.items()
            if not (m := LAYER.match(k))
            or int(m.group(1)) < self.args.num_hidden_layers  # expect: MLA201 drop nofix
        }


class ByListOfNames:
    def sanitize(self, weights):
        for k in [k for k in weights if k.startswith("mtp.")]:  # expect: MLA201 drop nofix
            weights.pop(k)
        return weights


class ByNamedList:
    def sanitize(self, weights):
        unused = [k for k in weights if "mtp_block" in k]  # expect: MLA201 drop nofix
        for k in unused:
            del weights[k]
        return weights


class ByLocalConstant:
    def sanitize(self, weights):
        drop = ("model.mtp", "rotary_emb")
        return {
            k: v
            for k, v in weights.items()
            if not any(d in k for d in drop)  # expect: MLA201 drop nofix
        }


class ByClassConstant:
    unused = ["rotary_emb", "model.mtp"]

    def sanitize(self, weights):
        return {
            k: v
            for k, v in weights.items()
            if not k.startswith(tuple(self.unused))  # expect: MLA201 drop nofix
        }
