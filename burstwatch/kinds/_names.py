"""Finds the name by which people know a thing, and what it belongs to, in the tags that AWS and Kubernetes put on it."""

from collections.abc import Mapping

#: A volume's claim, as the CSI driver tags it with ``--extra-create-metadata``:
#: https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/docs/tagging.md (2026-11)
CLAIM_NAMESPACE, CLAIM_NAME = (
    "kubernetes.io/created-for/pvc/namespace",
    "kubernetes.io/created-for/pvc/name",
)
#: The tags that hold the name of a cluster, and one whose key ends with it.
CLUSTER_TAGS = ("KubernetesCluster", "eks:cluster-name", "aws:eks:cluster-name")
CLUSTER_PREFIX = "kubernetes.io/cluster/"
GROUP = "aws:autoscaling:groupName"
STACK, STACK_PART = "aws:cloudformation:stack-name", "aws:cloudformation:logical-id"


def name_from_tags(tags: Mapping[str, str]) -> str:
    """The name that people use; empty where no tag has one.

    A claim comes before the tag ``Name``, which the driver fills with an id of its own.
    """
    if tags.get(CLAIM_NAME):
        return "/".join(filter(None, (tags.get(CLAIM_NAMESPACE), tags[CLAIM_NAME])))
    if tags.get("Name"):
        return tags["Name"]
    if tags.get(GROUP):
        return tags[GROUP]
    return "/".join(filter(None, (tags.get(STACK), tags.get(STACK_PART)))) if STACK in tags else ""


def cluster_of(tags: Mapping[str, str]) -> str:
    """The Kubernetes cluster that a thing is part of; empty where no tag says so."""
    for tag in CLUSTER_TAGS:
        if tags.get(tag):
            return tags[tag]
    return next(
        (tag.removeprefix(CLUSTER_PREFIX) for tag in tags if tag.startswith(CLUSTER_PREFIX)), ""
    )


def stack_of(tags: Mapping[str, str]) -> str:
    """The CloudFormation stack that made a thing, and may undo a change by hand; empty where no tag names one."""
    return tags.get(STACK, "")
