"""The examples of docs/examples, deployed as their tools deploy them: by CloudFormation, with what they say."""

import json
from pathlib import Path
from typing import Any

import hcl2
import yaml

from burstwatch.aws.client.session import Clients
from demo.localcloud.emulators import ROOT
from tests.clouds.stacks import PACKAGE, TEMPLATE, bucket_with
from tests.clouds.waiting import make_stack

EXAMPLES = ROOT / "docs" / "examples"
MODULE = ROOT / "terraform"


def deploy_sam(clients: Clients, release: Path) -> dict[str, str]:
    """As `sam package` and `sam deploy` do. Returns the status of each resource, those of the nested stack too."""
    bucket = bucket_with(clients, "release", release / PACKAGE, release / TEMPLATE)
    example: dict[str, Any] = yaml.load(
        (EXAMPLES / "sam" / "template.yaml").read_text(encoding="utf-8"),
        Loader=_Sam,  # noqa: S506 - a SafeLoader
    )
    nested = example["Resources"]["Burstwatch"]["Properties"]
    assert nested["TemplateURL"].endswith(f"dist/{TEMPLATE}")
    nested["TemplateURL"] = f"{clients('s3').meta.endpoint_url}/{bucket}/{TEMPLATE}"
    parameters = {"PackageBucket": bucket}
    # Those that `sam deploy --guided` proposes.
    capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
    make_stack(clients, "sam", json.dumps(example), parameters, capabilities)
    outer = _resources(clients, "sam")
    (inner,) = (one["PhysicalResourceId"] for one in outer if one["ResourceType"].endswith("Stack"))
    return _states([*outer, *_resources(clients, inner)])


def deploy_terraform(clients: Clients, release: Path) -> dict[str, str]:
    """As `terraform apply` does: the object, and then the stack with its parameters. Returns the status of each resource."""
    main, example = read_hcl(MODULE / "main.tf"), read_hcl(EXAMPLES / "terraform" / "main.tf")
    resources = {
        _plain(kind): block
        for resource in main["resource"]
        for kind, named in resource.items()
        for block in named.values()
    }
    assert set(resources) == {"aws_s3_object", "aws_cloudformation_stack"}
    stack = resources["aws_cloudformation_stack"]
    bucket = bucket_with(clients, "release", release / PACKAGE)
    assert TEMPLATE in str(stack["template_body"])
    parameters = {**module_parameters(example), "CodeBucket": bucket, "CodeKey": PACKAGE}
    template = (release / TEMPLATE).read_text(encoding="utf-8")
    capabilities = [_plain(name) for name in stack["capabilities"]]
    make_stack(clients, "Burstwatch", template, parameters, capabilities)
    return _states(_resources(clients, "Burstwatch"))


def module_parameters(example: dict[str, Any]) -> dict[str, str]:
    """The parameters of the stack that the module gets from an example: what this says, and else the default of the variable."""
    settings = read_hcl(MODULE / "settings.tf")
    (called,) = (block for named in example["module"] for block in named.values())
    defaults = {
        _plain(name): block["default"]
        for variable in settings["variable"]
        for name, block in variable.items()
    }
    return {
        _plain(parameter): _plain(str(called.get(name, defaults[name])))
        for parameter, value in settings["locals"][0]["settings"].items()
        for name in (_plain(str(value)).removeprefix("${var.").rstrip("}"),)
    }


def read_hcl(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8") as file:
        content: dict[str, Any] = hcl2.load(file)
    return content


class _Sam(yaml.SafeLoader):
    """Reads `!Ref`."""


def _ref(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> dict[str, Any]:
    return {"Ref": loader.construct_scalar(node)}


_Sam.add_constructor("!Ref", _ref)


def _plain(text: str) -> str:
    return text.strip('"')


def _resources(clients: Clients, stack: str) -> list[dict[str, Any]]:
    resources: list[dict[str, Any]] = clients("cloudformation").describe_stack_resources(
        StackName=stack
    )["StackResources"]
    return resources


def _states(resources: list[dict[str, Any]]) -> dict[str, str]:
    return {one["LogicalResourceId"]: one["ResourceStatus"] for one in resources}
