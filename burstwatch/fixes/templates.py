"""Writes a change as lines of CloudFormation and of Terraform, for a resource that is made by one of them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from burstwatch.fixes.fix import Command


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """The types of a resource in both languages, and the names of its properties by those of the API's parameters."""

    cloudformation: str
    terraform: str
    properties: Mapping[str, tuple[str, str]]


#: The lines of CloudFormation before the first property.
HEAD_LINES = 2
_INSTANCE_CLASS = {"DBInstanceClass": ("DBInstanceClass", "instance_class")}
#: By service and operation: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
#: and https://registry.terraform.io/providers/hashicorp/aws/latest/docs (2026-11).
TEMPLATES: Mapping[tuple[str, str], Template] = {
    ("ec2", "ModifyVolume"): Template(
        cloudformation="AWS::EC2::Volume",
        terraform="aws_ebs_volume",
        properties={
            "VolumeType": ("VolumeType", "type"),
            "Size": ("Size", "size"),
            "Iops": ("Iops", "iops"),
            "Throughput": ("Throughput", "throughput"),
        },
    ),
    ("ec2", "ModifyInstanceAttribute"): Template(
        cloudformation="AWS::EC2::Instance",
        terraform="aws_instance",
        properties={"InstanceType": ("InstanceType", "instance_type")},
    ),
    ("ec2", "ModifyInstanceCreditSpecification"): Template(
        cloudformation="AWS::EC2::Instance",
        terraform="aws_instance",
        properties={
            "CpuCredits": ("CreditSpecification.CPUCredits", "credit_specification.cpu_credits")
        },
    ),
    ("rds", "ModifyDBInstance"): Template(
        cloudformation="AWS::RDS::DBInstance",
        terraform="aws_db_instance, of Aurora aws_rds_cluster_instance",
        properties={
            "StorageType": ("StorageType", "storage_type"),
            "AllocatedStorage": ("AllocatedStorage", "allocated_storage"),
            "Iops": ("Iops", "iops"),
            "StorageThroughput": ("StorageThroughput", "storage_throughput"),
            **_INSTANCE_CLASS,
        },
    ),
    ("docdb", "ModifyDBInstance"): Template(
        cloudformation="AWS::DocDB::DBInstance",
        terraform="aws_docdb_cluster_instance",
        properties=_INSTANCE_CLASS,
    ),
    ("neptune", "ModifyDBInstance"): Template(
        cloudformation="AWS::Neptune::DBInstance",
        terraform="aws_neptune_cluster_instance",
        properties=_INSTANCE_CLASS,
    ),
    ("elasticache", "ModifyReplicationGroup"): Template(
        cloudformation="AWS::ElastiCache::ReplicationGroup",
        terraform="aws_elasticache_replication_group",
        properties={"CacheNodeType": ("CacheNodeType", "node_type")},
    ),
    ("elasticache", "ModifyCacheCluster"): Template(
        cloudformation="AWS::ElastiCache::CacheCluster",
        terraform="aws_elasticache_cluster",
        properties={"CacheNodeType": ("CacheNodeType", "node_type")},
    ),
    ("efs", "UpdateFileSystem"): Template(
        cloudformation="AWS::EFS::FileSystem",
        terraform="aws_efs_file_system",
        properties={
            "ThroughputMode": ("ThroughputMode", "throughput_mode"),
            "ProvisionedThroughputInMibps": (
                "ProvisionedThroughputInMibps",
                "provisioned_throughput_in_mibps",
            ),
        },
    ),
    ("fsx", "UpdateFileSystem"): Template(
        cloudformation="AWS::FSx::FileSystem",
        terraform="aws_fsx_windows_file_system",
        properties={
            # A template that names another type of storage makes a new file system: the command alone keeps the files.
            "StorageCapacity": ("StorageCapacity", "storage_capacity"),
            "ThroughputCapacity": (
                "WindowsConfiguration.ThroughputCapacity",
                "throughput_capacity",
            ),
        },
    ),
}


def cloudformation_lines(commands: Iterable[Command]) -> tuple[str, ...]:
    """The type and the changed properties of a resource in YAML; empty where no command changes one."""
    for command in commands:
        template = TEMPLATES.get((command.service, command.operation))
        if template is None:
            continue
        lines = [f"Type: {template.cloudformation}", "Properties:"]
        for name, value in _flat(command.parameters):
            if name in template.properties:
                *outer, inner = template.properties[name][0].split(".")
                lines += [f"  {'  ' * depth}{part}:" for depth, part in enumerate(outer)]
                lines.append(f"  {'  ' * len(outer)}{inner}: {value}")
        return tuple(lines) if len(lines) > HEAD_LINES else ()
    return ()


def terraform_lines(commands: Iterable[Command]) -> tuple[str, ...]:
    """The changed arguments of a resource, after a comment with its type; empty where no command changes one."""
    for command in commands:
        template = TEMPLATES.get((command.service, command.operation))
        if template is None:
            continue
        lines = [f"# {template.terraform}"]
        for name, value in _flat(command.parameters):
            if name in template.properties:
                *outer, inner = template.properties[name][1].split(".")
                argument = f"{inner} = {json.dumps(value)}"
                lines.append(f"{outer[0]} {{ {argument} }}" if outer else argument)
        return tuple(lines) if len(lines) > 1 else ()
    return ()


def _flat(parameters: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    """The names and values of parameters, those of structures and of lists of them without their frame."""
    for name, value in parameters.items():
        if isinstance(value, Mapping) and set(value) == {"Value"}:
            yield name, value["Value"]
        elif isinstance(value, Mapping):
            yield from _flat(value)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield from _flat(value[0])
        else:
            yield name, value
