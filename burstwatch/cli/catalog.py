"""Lists what burstwatch knows and reads, as data for others: the CDK app, policies, docs."""

import json
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from burstwatch.aws.client.names import (
    FOUND_HEARTBEAT_METRIC,
    FOUND_METRIC,
    HEARTBEATS_MISSED,
    STANDBY_METRICS,
)
from burstwatch.cli.policies import ALARM_READS, MEMBER_ROLE, read_actions
from burstwatch.config import ENV_PREFIX, SETTINGS, Config
from burstwatch.ebs.volume_types import CATALOGUE
from burstwatch.ebs.watching_prices import FREE, PRICES
from burstwatch.kinds import find_kinds
from burstwatch.polling.bill import FLEET_METRICS, LOG_KIB, SWEEP_S, Extent, deployment_lines
from burstwatch.shards import COUNTS

#: Services that the functions call besides those of the kinds' inventories.
OWN_SERVICES = frozenset({"account", "cloudwatch", "logs", "organizations", "sns", "sqs", "sts"})

#: How many accounts a test of the template's estimate finds beside its own.
ORGANIZATION = 39


def member_role() -> dict[str, Any]:
    """The CloudFormation template of the role in a member account: reads only.

    Ready for a StackSet: no assets, no macros, every input a parameter.
    """
    text = (files("burstwatch") / "member_role.json").read_text(encoding="utf-8")
    template: dict[str, Any] = json.loads(text)
    (policy,) = template["Resources"]["Role"]["Properties"]["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    statement["Action"] = read_actions(find_kinds().values())
    template["Parameters"]["RoleName"]["Default"] = MEMBER_ROLE
    return template


def member_stack_set() -> dict[str, Any]:
    """The CloudFormation template of a StackSet that makes that role in each account of an organisation, new ones too."""
    role = member_role()
    parameters = role["Parameters"]
    return {
        "AWSTemplateFormatVersion": role["AWSTemplateFormatVersion"],
        "Description": "burstwatch: makes the role that lets a monitoring account read, in each account of an organisation",
        "Parameters": {
            **parameters,
            "StackSetName": {
                "Type": "String",
                "Default": MEMBER_ROLE,
                "AllowedPattern": "[a-zA-Z][-a-zA-Z0-9]{0,127}",
                "Description": "the name of the StackSet",
            },
            "CallAs": {
                "Type": "String",
                "Default": "SELF",
                "AllowedValues": ["SELF", "DELEGATED_ADMIN"],
                "Description": "SELF in the management account, DELEGATED_ADMIN in a delegated administrator of StackSets",
            },
            "OrganizationalUnitIds": {
                "Type": "CommaDelimitedList",
                "Description": "the organisational units whose accounts get the role, or the root (r-...) for all",
            },
        },
        "Resources": {
            "Members": {
                "Type": "AWS::CloudFormation::StackSet",
                "Properties": {
                    "StackSetName": {"Ref": "StackSetName"},
                    "CallAs": {"Ref": "CallAs"},
                    "Description": role["Description"],
                    "PermissionModel": "SERVICE_MANAGED",
                    # An account that joins gets the role by itself, and one that leaves loses it.
                    "AutoDeployment": {"Enabled": True, "RetainStacksOnAccountRemoval": False},
                    "Capabilities": ["CAPABILITY_NAMED_IAM"],
                    "OperationPreferences": {
                        "FailureTolerancePercentage": 100,
                        "MaxConcurrentPercentage": 100,
                    },
                    "Parameters": [
                        {"ParameterKey": name, "ParameterValue": {"Ref": name}}
                        for name in parameters
                    ],
                    "StackInstancesGroup": [
                        {
                            "DeploymentTargets": {
                                "OrganizationalUnitIds": {"Ref": "OrganizationalUnitIds"}
                            },
                            # A role is global: one region is enough.
                            "Regions": [{"Ref": "AWS::Region"}],
                        }
                    ],
                    "TemplateBody": json.dumps(role, separators=(",", ":")),
                },
            }
        },
    }


def catalog() -> dict[str, Any]:
    """Kinds with their operations and metrics, volume types with sourced numbers, settings."""
    kinds = find_kinds().values()
    return {
        "kinds": [
            {
                "name": kind.name,
                "namespace": kind.namespace,
                "dimensions": list(kind.dimensions),
                "metrics": list(kind.metrics),
                "operations": list(dict.fromkeys(listing.operation for listing in kind.listings)),
            }
            for kind in kinds
        ],
        "fleet_metrics": list(FLEET_METRICS),
        "standby_metrics": STANDBY_METRICS,
        "heartbeats_missed": HEARTBEATS_MISSED,
        "found_metrics": [FOUND_METRIC, FOUND_HEARTBEAT_METRIC],
        "bill": {
            "fixed": {line.name: line.usd for line in deployment_lines(Config())},
            "paid": sum(line.paid_usd for line in deployment_lines(Config())),
            "organization": {
                line.name: line.usd
                for line in deployment_lines(Config(), Extent(found_units=ORGANIZATION))
            },
            "organization_units": ORGANIZATION,
            "log_kib_per_sweep": LOG_KIB,
            "seconds_per_sweep": SWEEP_S,
        },
        "member_role": MEMBER_ROLE,
        "prices": {name: asdict(price) for name, price in PRICES.items()},
        "free": {name: figure.value for name, figure in FREE.items()},
        "read_actions": [*read_actions(kinds), *ALARM_READS],
        "shard_counts": list(COUNTS),
        "services": sorted(
            {listing.service for kind in kinds for listing in kind.listings} | OWN_SERVICES
        ),
        "settings": [
            {
                "name": setting.name,
                "env": f"{ENV_PREFIX}{setting.name.upper()}",
                "default": setting.default,
                "help": setting.help,
                "low": setting.low,
                "high": setting.high,
                "unit": setting.unit,
                "pattern": setting.pattern,
                "allowed": setting.allowed,
            }
            for setting in SETTINGS
        ],
        "volume_types": [asdict(kind) for kind in CATALOGUE.values()],
    }
