"""The template of plain CloudFormation, deployed by boto3 as somebody without CDK would."""

import platform
from pathlib import Path

from burstwatch.aws.client.session import Clients
from demo.pace import FULL
from tests.clouds.waiting import make_stack

DEPLOYMENT = "plain"
PACKAGE, TEMPLATE = "burstwatch-lambda.zip", "burstwatch-template.json"


def deploy_plain(clients: Clients, release: Path) -> dict[str, str]:
    """Deploy the package and the template of a release. Returns the outputs."""
    bucket = bucket_with(clients, "plain", release / PACKAGE)
    parameters = {
        "CodeBucket": bucket,
        "CodeKey": PACKAGE,
        "Deployment": DEPLOYMENT,
        "Architecture": "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64",
        "LeadS": FULL.settings["lead_s"],
        "AlarmPathS": FULL.settings["alarm_path_s"],
        "AlarmEmail": "plain@example.org",
    }
    template = (release / TEMPLATE).read_text(encoding="utf-8")
    return make_stack(clients, DEPLOYMENT, template, parameters, ["CAPABILITY_IAM"])


def bucket_with(clients: Clients, name: str, *files: Path) -> str:
    """Make a bucket of the region with these files. Returns its name."""
    bucket = f"{name}-{clients.region}"
    s3 = clients("s3")
    s3.create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": clients.region}
    )
    for file in files:
        s3.put_object(Bucket=bucket, Key=file.name, Body=file.read_bytes())
    return bucket
