# SPDX-License-Identifier: LGPL-2.1-or-later
"""A certificate authority made with openssl(1), for certificates such as a cluster must refuse as well."""

import shutil
import subprocess
from pathlib import Path

CA_CONFIG = """[ca]
default_ca = ca
[ca]
database = {folder}/index
crlnumber = {folder}/crl-number
default_md = sha256
default_crl_days = 3650
"""
NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]


def openssl(*words, at=None):
    """at: as if it were that much later, such as -400d."""
    clock = ["faketime", "-f", at] if at else []
    done = subprocess.run([*clock, "openssl", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"openssl {' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


class Authority:
    """Keeps CA and revocations in a folder of its own. existing: certificate and key of one that is there."""

    def __init__(self, folder, name="bed", existing=None):
        self.folder = Path(folder)
        self.folder.mkdir()
        self.certificate, self.key = self.folder / "ca.crt", self.folder / "ca.key"
        self.config = self.folder / "ca.conf"
        self.config.write_text(CA_CONFIG.format(folder=self.folder))
        (self.folder / "index").touch()
        (self.folder / "crl-number").write_text("01\n")
        if existing:
            shutil.copy(existing[0], self.certificate)
            shutil.copy(existing[1], self.key)
            return
        openssl("req", "-x509", *NEW_KEY, "-keyout", self.key, "-out", self.certificate, "-days", "3650",
                "-subj", f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def issue(self, path, common_name, usage, names=(), days=365, at=None):
        """path.crt and path.key; usage is clientAuth or serverAuth, names such as IP:192.0.2.1; made at that time,
        such as -400d."""
        extensions = f"basicConstraints=critical,CA:FALSE\nextendedKeyUsage={usage}\n"
        if names:
            extensions += f"subjectAltName={','.join(names)}\n"
        request, extra = self.folder / "request", self.folder / "extensions"
        extra.write_text(extensions)
        openssl("req", "-new", *NEW_KEY, "-keyout", f"{path}.key", "-out", request,
                "-subj", f"/CN={common_name}")
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                "-CAcreateserial", "-days", days, "-extfile", extra, "-out", f"{path}.crt", at=at)
        return Path(path)

    def revoke(self, certificate):
        openssl("ca", "-config", self.config, "-cert", self.certificate, "-keyfile", self.key,
                "-revoke", certificate)

    def write_crl(self, path):
        openssl("ca", "-config", self.config, "-cert", self.certificate, "-keyfile", self.key, "-gencrl",
                "-out", path)
