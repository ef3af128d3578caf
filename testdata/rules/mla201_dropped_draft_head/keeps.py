"""Loaders that keep the draft head, or drop something else."""  # expect: none


class Renames:
    def sanitize(self, weights):
        out = {}
        for k, v in weights.items():
            if k.startswith("model.mtp."):
                k = k[len("model.") :]
            out[k] = v
        return out


class StoresElsewhere:
    def sanitize(self, weights):
        out, draft = {}, {}
        for k, v in weights.items():
            if "mtp." in k:
                draft[k.split("mtp.")[1]] = v
                continue
            out[k] = v
        self.draft.load_weights(list(draft.items()))
        return out


class CollectsBoth:
    def sanitize(self, weights):
        draft = {k: v for k, v in weights.items() if k.startswith("mtp.")}
        self.draft.load_weights(list(draft.items()))
        return {k: v for k, v in weights.items() if not k.startswith("mtp.")}


class DropsOthersByList:
    def sanitize(self, weights):
        kept = [k for k in weights if k.startswith("mtp.")]
        for k in [k for k in weights if not k.startswith("mtp.")]:
            weights.pop(k)
        return {k: weights[k] for k in kept}


class TakesOnlyTheHead:
    def sanitize(self, weights):
        return {k: v for k, v in weights.items() if k.startswith("mtp.")}


class DropsFrequencies:
    def sanitize(self, weights):
        return {k: v for k, v in weights.items() if "rotary_emb.inv_freq" not in k}


class DropsSharedLayers:
    def sanitize(self, weights):
        first = self.args.num_hidden_layers - self.args.num_kv_shared_layers
        out = {}
        for k, v in weights.items():
            if int(k.split(".")[2]) >= first and ".self_attn.k_proj" in k:
                continue
            out[k] = v
        return out


class DropsEveryLayersBuffer:
    def sanitize(self, weights):
        for layer in range(self.args.num_hidden_layers):
            for k in list(weights):
                if k.startswith(f"model.layers.{layer}.attn.buffer"):
                    weights.pop(k)
        return weights


class NotALoader:
    def report(self, weights):
        return [k for k in weights if not k.startswith("mtp.")]
