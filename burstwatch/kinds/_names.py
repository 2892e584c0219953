"""Finds the name by which people know a thing, and what it belongs to, in the tags that AWS and Kubernetes put on it."""

from collections.abc import Mapping

from burstwatch.formatting import plain_name

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
#: Who replaces an instance that stops, or ends it, by the tag that it puts on it. The first one counts: a node group is
#: an Auto Scaling group too. https://karpenter.sh/docs/concepts/nodepools/,
#: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html,
#: https://docs.aws.amazon.com/emr/latest/ManagementGuide/emr-plan-tags.html,
#: https://docs.aws.amazon.com/elasticbeanstalk/latest/dg/using-features.tagging.html,
#: https://docs.aws.amazon.com/batch/latest/userguide/compute-environment-parameters.html (2026-11)
REPLACED_BY = {
    "karpenter.sh/nodepool": "the NodePool {} of Karpenter",
    "karpenter.sh/provisioner-name": "the Provisioner {} of Karpenter",
    "eks:nodegroup-name": "the managed node group {} of EKS",
    "aws:elasticmapreduce:job-flow-id": "the EMR cluster {}",
    "elasticbeanstalk:environment-name": "the Elastic Beanstalk environment {}",
    "aws:batch:compute-environment": "the compute environment {} of AWS Batch",
    "AWSBatchServiceTag": "the compute environment of AWS Batch",
    GROUP: "the launch template of the Auto Scaling group {}",
    "aws:ec2spot:fleet-request-id": "the Spot Fleet request {}",
    "aws:ec2:fleet-id": "the EC2 Fleet {}",
}
#: Tags by which people say that Terraform makes a thing; it has none of its own.
#: Values of a tag such as ``terraform`` that deny it.
NOT_SO = frozenset({"", "0", "false", "n", "no", "none"})
TERRAFORM, TERRAFORM_TAGS = "terraform", frozenset({"managedby", "createdby", "provisioner", "iac"})
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


def replacer_of(tags: Mapping[str, str]) -> str:
    """What an instance is made from that replaces it when it stops, in words; empty where no tag says so."""
    return next(
        (words.format(plain_name(tags[tag])) for tag, words in REPLACED_BY.items() if tag in tags),
        "",
    )


def is_made_by_terraform(tags: Mapping[str, str]) -> bool:
    """True if a tag says that Terraform makes a thing."""
    return any(
        (TERRAFORM in key.lower() and value.lower() not in NOT_SO)
        or (
            TERRAFORM in value.lower()
            and not value.lower().startswith("no")
            and "".join(filter(str.isalpha, key)).lower() in TERRAFORM_TAGS
        )
        for key, value in tags.items()
    )


def stack_of(tags: Mapping[str, str]) -> str:
    """The CloudFormation stack that made a thing, and may undo a change by hand; empty where no tag names one."""
    return tags.get(STACK, "")
