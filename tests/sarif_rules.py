"""What GitHub's code scanning asks of a SARIF log besides the schema, as a list of complaints.

From its documentation of SARIF support, from the rules of the validator that its authors name
(relative URIs, regions, fingerprints, rule metadata), and from rejected uploads: column 0, a rule
listed twice, a URI with a space, a result without a location.
"""

import re
from urllib.parse import unquote_to_bytes

WINDOW, BASE, WRAP = 100, 37, 1 << 64


def line_hashes(data):
    """primaryLocationLineHash of every line, written from the description and not from the C."""
    units = []
    text = data.decode("utf-8", "replace")
    raw = text.encode("utf-16-le")
    for i in range(0, len(raw), 2):
        units.append(raw[i] | raw[i + 1] << 8)
    kept, starts, at_start, i = [], [], True, 0
    for i, unit in enumerate(units + [65535]):
        if unit in (32, 9) or (unit == 10 and i and units[i - 1] == 13):
            continue
        if at_start:
            starts.append(len(kept))
        kept.append(10 if unit == 13 else unit)
        at_start = kept[-1] == 10
    kept += [0] * WINDOW
    seen, out = {}, []
    for start in starts:
        value = 0
        for unit in kept[start : start + WINDOW]:
            value = (value * BASE + unit) % WRAP
        seen[value] = seen.get(value, 0) + 1
        out.append("%x:%d" % (value, seen[value]))
    return out


def offset(data, line, column):
    """The byte offset of a line and column in UTF-16 units."""
    starts = [0] + [m.end() for m in re.finditer(rb"\r\n|\r|\n", data)]
    at, left = starts[line - 1], column - 1
    if line == 1 and data.startswith(b"\xef\xbb\xbf"):
        at = 3
    end = starts[line] if line < len(starts) else len(data)
    for c in data[at:end].decode("utf-8", "surrogateescape"):
        if left <= 0:
            break
        left -= 2 if ord(c) > 0xFFFF else 1
        at += len(c.encode("utf-8", "surrogateescape"))
    assert left == 0, "line %d has no column %d" % (line, column)
    return at


class Rules:
    def __init__(self, log, files):
        """`files`: path -> bytes of what was scanned."""
        self.log, self.files, self.complaints = log, files, []

    def need(self, condition, message):
        if not condition:
            self.complaints.append(message)

    def text(self, where, o, limit=None):
        value = o.get("text") if isinstance(o, dict) else None
        self.need(isinstance(value, str) and value.strip(), "%s: no text" % where)
        if limit and value:
            self.need(len(value) <= limit, "%s: longer than %d" % (where, limit))

    def uri(self, where, artifact):
        uri = artifact.get("uri", "")
        self.need(
            re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri), "%s: URI %r" % (where, uri)
        )
        self.need(not re.match(r"/|\./|\.\./|[a-z]+:", uri), "%s: not relative: %r" % (where, uri))
        self.need(
            artifact.get("uriBaseId") in self.run["originalUriBaseIds"], "%s: unknown root" % where
        )
        return self.files.get(unquote_to_bytes(uri))

    def region(self, where, region, data):
        numbers = [region.get(k) for k in ("startLine", "startColumn", "endLine", "endColumn")]
        if not all(isinstance(n, int) and n >= 1 for n in numbers):
            self.need(False, "%s: region %r" % (where, region))
            return None
        start, end = tuple(numbers[:2]), tuple(numbers[2:])
        self.need(start <= end, "%s: ends before it starts: %r" % (where, region))
        self.need(data is not None, "%s: no such file" % where)
        if data is None:
            return None
        span = offset(data, *start), offset(data, *end)
        if "snippet" in region:
            got = data[span[0] : span[1]].decode("utf-8", "replace")
            self.need(got == region["snippet"]["text"], "%s: snippet of another place" % where)
        if "byteOffset" in region:
            said = region["byteOffset"], region["byteOffset"] + region["byteLength"]
            self.need(said == span, "%s: bytes %r, but columns mean %r" % (where, said, span))
        return span

    def check_rules(self):
        rules = self.run["tool"]["driver"]["rules"]
        ids = [r["id"] for r in rules]
        self.need(len(set(ids)) == len(ids), "a rule is listed twice")
        self.need(len(ids) <= 25000, "too many rules")
        for r in rules:
            self.text(r["id"] + " short", r.get("shortDescription"), 1024)
            self.text(r["id"] + " full", r.get("fullDescription"), 1024)
            self.text(r["id"] + " help", r.get("help"))
            self.need(r["help"].get("markdown"), r["id"] + ": no markdown")
            self.need(len(r["properties"]["tags"]) <= 10, r["id"] + ": tags")
            self.need(
                r["properties"]["problem.severity"] in ("error", "warning", "recommendation"),
                r["id"] + ": severity",
            )
        return rules

    def check_result(self, n, result, rules):
        where = "result %d" % n
        index = result.get("ruleIndex", -1)
        self.need(0 <= index < len(rules), where + ": ruleIndex")
        self.need(rules[index]["id"] == result["ruleId"], where + ": ruleIndex of another rule")
        self.text(where, result.get("message"))
        self.need(result.get("level") in ("none", "note", "warning", "error"), where + ": level")
        self.need(1 <= len(result.get("locations", [])) <= 1000, where + ": locations")
        place = result["locations"][0]["physicalLocation"]
        data = self.uri(where, place["artifactLocation"])
        self.region(where, place["region"], data)
        ids = [r.get("id") for r in result.get("relatedLocations", [])]
        links = re.findall(r"(?<!\\)\]\((\d+)\)", result["message"]["text"])
        self.need(
            sorted(map(int, links)) == sorted(ids), where + ": links %r, ids %r" % (links, ids)
        )
        for related in result.get("relatedLocations", []):
            other = related["physicalLocation"]
            self.region(
                where + " related", other["region"], self.uri(where, other["artifactLocation"])
            )
        said = result.get("partialFingerprints", {}).get("primaryLocationLineHash", "")
        if data is not None:
            want = line_hashes(data)[place["region"]["startLine"] - 1]
            self.need(said == want, "%s: line hash %r, GitHub has %r" % (where, said, want))
        for fix in result.get("fixes", []):
            self.text(where + " fix", fix.get("description"))
            self.need(fix["artifactChanges"], where + ": empty fix")
            for change in fix["artifactChanges"]:
                self.need(change["replacements"], where + ": no replacements")
                self.uri(where, change["artifactLocation"])
                for r in change["replacements"]:
                    other = self.uri(where, change["artifactLocation"])
                    self.region(where + " fix", r["deletedRegion"], other)

    def check(self):
        log = self.log
        self.need(log.get("$schema", "").endswith("sarif-2.1.0.json"), "no $schema")
        self.need(log.get("version") == "2.1.0", "version")
        self.need(1 <= len(log["runs"]) <= 20, "runs")
        for run in log["runs"]:
            self.run = run
            self.need(run["tool"]["driver"].get("name"), "no driver name")
            self.need(run.get("columnKind") == "utf16CodeUnits", "columnKind")
            rules = self.check_rules()
            self.need(len(run["results"]) <= 25000, "too many results")
            for n, result in enumerate(run["results"]):
                self.check_result(n, result, rules)
            prints = [
                r["partialFingerprints"]["mlalintFinding/v1"]
                for r in run["results"]
                if "mlalintFinding/v1" in r.get("partialFingerprints", {})
            ]
            self.need(len(set(prints)) == len(prints), "a fingerprint of two findings")
            for n in run["invocations"][0]["toolExecutionNotifications"]:
                self.text("notification", n.get("message"))
                known = run["tool"]["driver"]["notifications"]
                descriptor = n["descriptor"]
                self.need(known[descriptor["index"]]["id"] == descriptor["id"], "descriptor")
                for place in n.get("locations", []):
                    self.uri("notification", place["physicalLocation"]["artifactLocation"])
        return self.complaints


def edits(log, files):
    """path -> (start, end, text) of every fix, in bytes, from lines and columns."""
    out = {}
    for result in log["runs"][0]["results"]:
        for fix in result.get("fixes", []):
            for change in fix["artifactChanges"]:
                path = unquote_to_bytes(change["artifactLocation"]["uri"])
                for r in change["replacements"]:
                    g = r["deletedRegion"]
                    start = offset(files[path], g["startLine"], g["startColumn"])
                    end = offset(files[path], g["endLine"], g["endColumn"])
                    text = r.get("insertedContent", {}).get("text", "").encode()
                    out.setdefault(path, set()).add((start, end, text))
    return out
