# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""Evaluates the layer's recipes with the real BitBake library.

The package on PyPI has BitBake's parser, datastore and fetcher, without
OpenEmbedded's classes: those are stand-ins here, so a test sees what this
layer's own files say. Where the package is missing, the importing tests skip.
"""

import importlib.util
import io
import logging
import os
import subprocess
import sys
import tempfile
import types
import unittest
from dataclasses import dataclass
from pathlib import Path

if importlib.util.find_spec("bb") is None:
    raise unittest.SkipTest("PyPI's bitbake-setup is not installed")

# The package lacks the hash equivalence server, which the parser imports.
for _name in ("hashserv", "hashserv.client"):
    sys.modules.setdefault(_name, types.ModuleType(_name))

import bb.data  # noqa: E402
import bb.data_smart  # noqa: E402
import bb.fetch2  # noqa: E402
import bb.parse  # noqa: E402
import bb.utils  # noqa: E402

logging.getLogger("BitBake").setLevel(logging.WARNING)

LAYER = Path(__file__).resolve().parent.parent.parent

BITBAKE_CONF = """
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'conf'}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
BPN = "${PN}"
FILE_DIRNAME = "${@os.path.dirname(d.getVar('FILE', False) or '')}"
TOPDIR = "@TMP@"
DL_DIR = "${TOPDIR}/downloads"
PERSISTENT_DIR = "${TOPDIR}/cache"
WORKDIR = "${TOPDIR}/work/${PN}"
D = "${WORKDIR}/image"
B = "${S}"
T = "${WORKDIR}/temp"
THISDIR = "${@os.path.dirname(d.getVar('FILE', False) or '')}"
FILESEXTRAPATHS ?= "__default:"
FILESPATH = "${@d.getVar('FILESEXTRAPATHS').replace('__default:', '')}${FILE_DIRNAME}/${BPN}:${FILE_DIRNAME}/files"
prefix = "/usr"
bindir = "/usr/bin"
sysconfdir = "/etc"
localstatedir = "/var"
nonarch_libdir = "/usr/lib"
systemd_system_unitdir = "/usr/lib/systemd/system"
OVERRIDES = "${CLASSOVERRIDE}"
CLASSOVERRIDE = "class-target"
MACHINE = "stand-in"
"""

# One per release: what the layer's files depend on there.
RELEASES = {
    "scarthgap": 'RUSTVERSION ?= "1.75%"\n',
    "wrynose": 'RUSTVERSION ?= "1.94.1%"\nUNPACKDIR ??= "${WORKDIR}/sources"\n',
}

CLASSES = {
    "cargo": "cargo_do_install() {\n    install -d ${D}${bindir}\n}\nEXPORT_FUNCTIONS do_install\n",
}
EMPTY_CLASSES = (
    "cargo-update-recipe-crates core-image features_check module native nativesdk packagegroup systemd update-rc.d"
)


@dataclass
class Build:
    """One release with one set of distribution features."""

    release: str
    features: str = ""
    conf: str = ""
    with_layer: bool = True

    def __post_init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="rtperf-layer-")
        self.folder = Path(self._folder.name)
        self._write_stand_ins()
        self.data = self._configuration()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def _write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def _write_stand_ins(self):
        conf = BITBAKE_CONF.replace("@TMP@", str(self.folder)) + RELEASES[self.release]
        conf += f'DISTRO_FEATURES = "{self.features}"\n{self.conf}\n'
        self._write("conf/bitbake.conf", conf)
        self._write("classes-global/base.bbclass", "")
        for name in EMPTY_CLASSES.split():
            self._write(f"classes-recipe/{name}.bbclass", CLASSES.get(name, ""))
        for name, text in CLASSES.items():
            self._write(f"classes-recipe/{name}.bbclass", text)

    def _configuration(self):
        data = bb.data_smart.DataSmart()
        bb.parse.siggen = bb.siggen.init(data)
        data.setVar("BBPATH", str(self.folder))
        data.setVar("__bbclasstype", "global")
        if self.with_layer:
            data.setVar("LAYERDIR", str(LAYER))
            data = bb.parse.handle(str(LAYER / "conf/layer.conf"), data, True)
            data.expandVarref("LAYERDIR")
            data.delVar("LAYERDIR")
        data = bb.parse.handle(str(self.folder / "conf/bitbake.conf"), data, True)
        bb.parse.BBHandler.inherit("base", "configuration", 0, data)
        data.setVar("__bbclasstype", "recipe")
        return data

    def recipe(self, path, appends=(), variant=""):
        """The evaluated datastore of a recipe; a skipped one has __SKIPPED set."""
        data = self.data.createCopy()
        data.setVar("__BBAPPEND", " ".join(str(LAYER / append) for append in appends))
        return bb.parse.handle(str(LAYER / path), data)[variant]

    def stand_in_recipe(self, name, text, appends=()):
        """The like for a recipe of another layer, of which `text` is enough."""
        return self.recipe(self._write(f"recipes/{name}", text), appends)


def install(data):
    """Unpacks the recipe's own files and runs its do_install; the image's files."""
    urls = [url for url in data.getVar("SRC_URI").split() if url.startswith("file://")]
    bb.fetch2.Fetch(urls, data).unpack(data.getVar("UNPACKDIR"))
    script = io.StringIO()
    bb.data.emit_func("do_install", script, data)
    text = "set -e\n" + script.getvalue() + "\ndo_install\n"
    subprocess.run(["sh", "-c", text], check=True, cwd=data.getVar("WORKDIR"))
    image = Path(data.getVar("D"))
    return {"/" + str(p.relative_to(image)): p for p in image.rglob("*") if not os.path.isdir(p)}
