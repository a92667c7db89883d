"""Of the user's npm settings, an installation sees what leads to the registry, and nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.core.settings import NetworkVariable, Secret, Settings
from convex_evals.core.toolchain import Node
from convex_evals.core.toolchain.registry_settings import read_registry_settings

NPMRC = """
; a comment
registry = https://user.example/npm
@corp:registry=https://corp.example/
//corp.example/:_authToken=${NPM_TOKEN}
//corp.example/:_password="c2VjcmV0"
cafile=~/ca.pem
git=./evil.sh
ignore-scripts=false
script-shell=/bin/sh
node-options=--require ./evil.js
init-module=/etc/passwd
[section]
ca[]="first"
ca[]="second"
"""


@pytest.fixture
def configured(settings: Settings, tmp_path: Path) -> Settings:
    settings.home.mkdir()
    (settings.home / ".npmrc").write_text(NPMRC)
    (tmp_path / "global").write_text("registry=https://global.example\nhttps-proxy=http://proxy.example:3128\n")
    variables = {
        "NPM_CONFIG_GLOBALCONFIG": str(tmp_path / "global"),
        "NPM_TOKEN": "t0ken",
        "HTTPS_PROXY": "http://other.example",
        "NODE_EXTRA_CA_CERTS": "/etc/ssl/extra.pem",
        "npm_config_git": "./evil.sh",
        "npm_config_node_options": "--require ./evil.js",
        "PIP_INDEX_URL": "https://pip.example",
    }
    network = tuple(NetworkVariable(name, Secret(value)) for name, value in variables.items())
    return replace(settings, network=network)


def test_only_what_leads_to_the_registry_is_passed_on(configured: Settings, node: Node) -> None:
    found = read_registry_settings(configured, node)
    assert found.environment == {
        "HTTPS_PROXY": "http://other.example",
        "NODE_EXTRA_CA_CERTS": "/etc/ssl/extra.pem",
        "npm_config_registry": "https://user.example/npm",
        "npm_config_@corp:registry": "https://corp.example/",
        "npm_config_//corp.example/:_authToken": "t0ken",
        "npm_config_//corp.example/:_password": "c2VjcmV0",
        "npm_config_cafile": str(configured.home / "ca.pem"),
        "npm_config_ca": "first\n\nsecond",
        "npm_config_https-proxy": "http://proxy.example:3128",
    }
    assert found.files == (Path("/etc/ssl/extra.pem"), configured.home / "ca.pem")
    assert found.registries == (
        "https://user.example/npm/",
        "https://corp.example/",
    )


def test_the_environment_comes_before_the_files(configured: Settings, node: Node) -> None:
    variable = NetworkVariable("NPM_CONFIG_REGISTRY", Secret("https://env.example/"))
    found = read_registry_settings(replace(configured, network=(*configured.network, variable)), node)
    assert found.environment["npm_config_registry"] == "https://env.example/"
