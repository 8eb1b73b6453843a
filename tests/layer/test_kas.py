# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""Every machine with every release and feature is a valid kas project."""

import itertools
import json
import re
import unittest
from pathlib import Path

try:
    import jsonschema
    import kas
    import yaml
    from kas.includehandler import IncludeHandler
except ImportError as missing:
    raise unittest.SkipTest(f"kas is not installed ({missing})")

LAYER = Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((Path(kas.__file__).parent / "schema-kas.json").read_text())
LOCKS = sorted(LAYER.glob("*.lock.yml")) + sorted(LAYER.glob("kas/**/*.lock.yml"))
FILES = [p for p in [LAYER / "kas.yml", *sorted(LAYER.glob("kas/**/*.yml"))] if p not in LOCKS]
MACHINES, FEATURES, RELEASES = (
    [p for p in FILES if p.parent.name == kind] for kind in ("machine", "feature", "release")
)
COMMIT = re.compile(r"[0-9a-f]{40}")


def merged(*fragments):
    """What kas makes of kas.yml and the fragments, locks included."""
    handler = IncludeHandler([str(LAYER / "kas.yml"), *map(str, fragments)])
    handler.top_repo_path = str(LAYER)
    handler.ensure_from_same_repo = lambda: None
    config, missing = handler.get_config()
    if missing:
        raise AssertionError(f"includes from other repositories: {missing}")
    return config


def combinations():
    chosen = [[], *([f] for f in FEATURES), list(FEATURES)]
    return itertools.product(MACHINES, RELEASES, chosen)


class Kas(unittest.TestCase):
    def test_every_file_is_valid_by_itself(self):
        for path in [*FILES, *LOCKS]:
            with self.subTest(path.name):
                jsonschema.validate(yaml.safe_load(path.read_text()), SCHEMA)

    def test_the_schema_is_applied(self):
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate({"header": {"version": 17}, "machin": "x"}, SCHEMA)

    def test_every_combination_is_valid_and_pinned(self):
        count = 0
        for machine, release, features in combinations():
            with self.subTest(machine=machine.stem, release=release.stem, features=[f.stem for f in features]):
                config = merged(release, machine, *features)
                jsonschema.validate(config, SCHEMA)
                self.assertEqual(config["machine"], machine.stem)
                self.assertEqual(config["distro"], "nodistro")
                self.assertEqual(config["defaults"]["repos"]["branch"], release.stem)
                for feature in ("rtperf", *(f.stem for f in features)):
                    self.assertIn(feature, config["local_conf_header"])
                pins = config["overrides"]["repos"]
                for name, repo in config["repos"].items():
                    if name != "meta-rtperf":
                        self.assertRegex(repo["path"], r"^layers/")
                        self.assertRegex(pins[name]["commit"], COMMIT)
                count += 1
        self.assertGreaterEqual(count, 5 * 2 * 2)

    def test_the_default_is_qemuarm64_on_wrynose(self):
        config = merged()
        self.assertEqual((config["machine"], config["target"]), ("qemuarm64", "rtperf-image"))
        self.assertEqual(config["defaults"]["repos"]["branch"], "wrynose")
        self.assertIn('DISTRO_FEATURES:append = " rtperf"', config["local_conf_header"]["rtperf"])

    def test_a_release_leaves_no_pin_of_the_other(self):
        one, other = (
            yaml.safe_load((LAYER / lock).read_text())["overrides"]["repos"]
            for lock in ("kas.lock.yml", "kas/release/scarthgap.lock.yml")
        )
        self.assertEqual(one.keys(), other.keys())
        self.assertFalse({r["commit"] for r in one.values()} & {r["commit"] for r in other.values()})
        config = merged(LAYER / "kas/release/scarthgap.yml")
        self.assertEqual(config["overrides"]["repos"], other)

    def test_supported_releases_are_those_of_the_layer(self):
        conf = (LAYER / "conf/layer.conf").read_text()
        series = re.search(r'^LAYERSERIES_COMPAT_rtperf = "(.*)"', conf, re.M).group(1)
        self.assertEqual(sorted(series.split()), [p.stem for p in RELEASES])
