"""The examples of docs/examples, deployed as their tools deploy them: by CloudFormation, with what they say."""

import json
from pathlib import Path
from typing import Any

import hcl2
import yaml

from burstwatch.aws.client.session import Clients
from demo.localcloud.emulators import ROOT

EXAMPLES = ROOT / "docs" / "examples"
PACKAGE, TEMPLATE = "burstwatch-lambda.zip", "burstwatch-template.json"


def deploy_sam(clients: Clients, release: Path) -> dict[str, str]:
    """As `sam package` and `sam deploy` do. Returns the status of each resource, those of the nested stack too."""
    bucket = _bucket_with(clients, release, PACKAGE, TEMPLATE)
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
    outer = _make(clients, "sam", json.dumps(example), parameters, capabilities)
    (inner,) = (one["PhysicalResourceId"] for one in outer if one["ResourceType"].endswith("Stack"))
    return _states([*outer, *_resources(clients, inner)])


def deploy_terraform(clients: Clients, release: Path) -> dict[str, str]:
    """As `terraform apply` does: the object, and then the stack with its parameters. Returns the status of each resource."""
    with (EXAMPLES / "terraform" / "main.tf").open(encoding="utf-8") as file:
        example = hcl2.load(file)
    resources = {
        _plain(kind): block
        for resource in example["resource"]
        for kind, named in resource.items()
        for block in named.values()
    }
    assert set(resources) == {"aws_s3_object", "aws_cloudformation_stack"}
    stack = resources["aws_cloudformation_stack"]
    bucket = _bucket_with(clients, release, PACKAGE)
    stated = {_plain(key): _plain(str(value)) for key, value in stack["parameters"].items()}
    assert stated["CodeBucket"] == "${aws_s3_object.package.bucket}"
    assert stated["CodeKey"] == "${aws_s3_object.package.key}"
    assert TEMPLATE in str(stack["template_body"])
    parameters = {**stated, "CodeBucket": bucket, "CodeKey": PACKAGE}
    template = (release / TEMPLATE).read_text(encoding="utf-8")
    capabilities = [_plain(name) for name in stack["capabilities"]]
    return _states(_make(clients, _plain(stack["name"]), template, parameters, capabilities))


class _Sam(yaml.SafeLoader):
    """Reads `!Ref`."""


def _ref(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> dict[str, Any]:
    return {"Ref": loader.construct_scalar(node)}


_Sam.add_constructor("!Ref", _ref)


def _plain(text: str) -> str:
    return text.strip('"')


def _bucket_with(clients: Clients, release: Path, *names: str) -> str:
    bucket = f"release-{clients.region}"
    s3 = clients("s3")
    s3.create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": clients.region}
    )
    for name in names:
        s3.put_object(Bucket=bucket, Key=name, Body=(release / name).read_bytes())
    return bucket


def _make(
    clients: Clients,
    name: str,
    template: str,
    parameters: dict[str, str],
    capabilities: list[str],
) -> list[dict[str, Any]]:
    stacks = clients("cloudformation")
    stacks.create_stack(
        StackName=name,
        TemplateBody=template,
        Capabilities=capabilities,
        Parameters=[
            {"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()
        ],
    )
    stacks.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 3})
    return _resources(clients, name)


def _resources(clients: Clients, stack: str) -> list[dict[str, Any]]:
    resources: list[dict[str, Any]] = clients("cloudformation").describe_stack_resources(
        StackName=stack
    )["StackResources"]
    return resources


def _states(resources: list[dict[str, Any]]) -> dict[str, str]:
    return {one["LogicalResourceId"]: one["ResourceStatus"] for one in resources}
