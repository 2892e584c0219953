"""The programs that stand in for AWS: how each is started, and what it cannot do.

``localstack`` runs the demo. ``localemu`` and ``fakecloud`` are by others, and check rights.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache"
#: Another account, whose number is its access key.
MEMBER = "333333333333"
RUNTIME_PYTHON = CACHE / "lambda-runtime" / "bin" / "python"
#: Where `cargo install --root .cache/fakecloud` puts it. The variable names a binary elsewhere.
FAKECLOUD = Path(os.environ.get("FAKECLOUD", CACHE / "fakecloud" / "bin" / "fakecloud"))


@dataclass(frozen=True, kw_only=True)
class Gap:
    """What AWS does and an emulator does not, and what stands in for it."""

    does: str
    instead: str


#: By a short name.
GAPS = {
    "expressions": Gap(
        does="answer SEARCH, Metrics Insights or metric math",
        instead="`monitoring/metric_math` answers them, on LocalStack, localemu and in the strict fake. It knows only the functions that our dashboards use, and refuses any other function by its name. It assumes that a time range may end in the future, and that EPOCH and FILL continue to that end",
    ),
    "alarms on expressions": Gap(
        does="evaluate alarms on those (`…-volumes-unknown`, the floor)",
        instead="tested on the template",
    ),
    "dashboards": Gap(
        does="create dashboards",
        instead="tested on the template, and every widget's query on the demo's data",
    ),
    "custom resources": Gap(
        does="call custom resources (the cleanup on `cdk destroy`)",
        instead="a test against the strict fake checks the handler, a test of the template in which order things are deleted; on localemu the function is called as CloudFormation would call it",
    ),
    "RDS, EFS, FSx, ElastiCache": Gap(
        does="have RDS, EFS, FSx or ElastiCache",
        instead="LocalStack answers their lists as an account without any; localemu has them, and the strict fake answers from the services' models",
    ),
    "IAM": Gap(
        does="enforce IAM or topic policies",
        instead="localemu does; fakecloud evaluates topic and trust policies as well",
    ),
    "IAM of CloudWatch and EC2": Gap(
        does="enforce the rights for CloudWatch and EC2",
        instead="localemu does",
    ),
    "key policies": Gap(
        does="enforce the policy of a KMS key",
        instead="a template test walks alarm, topic and key",
    ),
    "mute rules": Gap(
        does="have rules that mute alarms",
        instead="the strict fake has",
    ),
    "names of topics": Gap(
        does="name a topic after its stack",
        instead="`make other-clouds` puts the topics' own names into the policies of the commands",
    ),
    "log groups": Gap(
        does="write the function's log into the group that it names",
        instead="`make other-clouds` reads the group that Lambda would choose by itself",
    ),
    "TLS": Gap(
        does="speak TLS",
        instead="the topics refuse what is published there, and the test expects that",
    ),
    "functions without Docker": Gap(
        does="run a function without Docker",
        instead="our executor runs it on LocalStack and localemu; on fakecloud the sweep runs in a process of its own with the function's role",
    ),
    "GetCallerIdentity": Gap(
        does="allow GetCallerIdentity to everybody",
        instead="the role of the test has a statement for it",
    ),
    "e-mail": Gap(
        does="deliver e-mail",
        instead="the demo subscribes a queue and an HTTP endpoint",
    ),
    "disabled rules": Gap(
        does="stop a disabled rule",
        instead="the test of the alarm `no-completed-sweep` (the dead-man test) removes the targets of the rule",
    ),
    "pages and limits": Gap(
        does="split answers into pages, limit or throttle calls",
        instead="the strict fake in `tests/fake` does",
    ),
    "refused namespaces": Gap(
        does="refuse datapoints in the namespace `AWS/EBS`",
        instead="so the demo can publish a balance",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Emulator:
    """A program that answers as AWS does.

    In ``command`` and ``settings``, ``{port}`` stands for the port and ``{folder}`` for the folder that
    it may write to. ``certificate`` is the file in that folder that clients must trust, where the emulator speaks
    TLS: policies refuse what comes without. ``cannot`` has what AWS does and it does not, each a key of ``GAPS``;
    ``without`` the kinds of resources that it cannot have, each with what it answers.
    """

    name: str
    version: str
    used_for: str
    account: str
    command: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict)
    health: str
    certificate: str = ""
    cannot: Sequence[str]
    without: Mapping[str, str] = field(default_factory=dict)

    def started_with(self, *, port: int, folder: Path) -> tuple[list[str], dict[str, str]]:
        """The command line and the environment that start it."""
        command = [part.format(port=port, folder=folder) for part in self.command]
        settings = {
            name: value.format(port=port, folder=folder) for name, value in self.settings.items()
        }
        return command, settings


#: LocalStack and its fork take the same settings.
_OF_LOCALSTACK = {
    "PYTHONPATH": str(ROOT),
    "PYTHONDONTWRITEBYTECODE": "1",
    "FILESYSTEM_ROOT": "{folder}/root",
    "GATEWAY_LISTEN": "127.0.0.1:{port}",
    "BURSTWATCH_LAMBDA_PYTHON": str(RUNTIME_PYTHON),
    "DISABLE_EVENTS": "1",
    "SKIP_SSL_CERT_DOWNLOAD": "1",
    "LAMBDA_KEEPALIVE_MS": "900000",
}

LOCALSTACK = Emulator(
    name="localstack",
    version="4.13.1",
    used_for="demo, tests",
    account="000000000000",
    command=(str(CACHE / "localstack" / "bin" / "python"), "-m", "demo.localcloud.localstack"),
    settings={
        **_OF_LOCALSTACK,
        "LOCALSTACK_HOST": "localhost:{port}",
        "BURSTWATCH_EMULATOR": "localstack",
    },
    health="/_localstack/health",
    cannot=(
        "expressions",
        "alarms on expressions",
        "dashboards",
        "custom resources",
        "RDS, EFS, FSx, ElastiCache",
        "IAM",
        "key policies",
        "mute rules",
        "functions without Docker",
        "e-mail",
        "disabled rules",
        "pages and limits",
        "refused namespaces",
    ),
)
LOCALEMU = Emulator(
    name="localemu",
    version="1.3.2",
    used_for="`make other-clouds`",
    account="000000000000",
    command=(str(CACHE / "localemu" / "bin" / "python"), "-m", "demo.localcloud.localemu"),
    settings={
        **_OF_LOCALSTACK,
        "LOCALEMU_HOST": "localhost:{port}",
        "BURSTWATCH_EMULATOR": "localemu",
        "IAM_ENFORCEMENT": "1",
        "ROOT_ACCESS_KEYS": f"test,{MEMBER}",
        "BURSTWATCH_DECISIONS": "{folder}/decisions.jsonl",
        "CUSTOM_SSL_CERT_PATH": "{folder}/server.pem",
    },
    certificate="server.pem",
    health="/_localemu/health",
    cannot=(
        "expressions",
        "alarms on expressions",
        "custom resources",
        "key policies",
        "mute rules",
        "names of topics",
        "log groups",
        "functions without Docker",
        "e-mail",
        "pages and limits",
        "refused namespaces",
    ),
    without={
        "docdb_instance_cpu": "refuses the engine docdb",
        "elasticache_node_cpu": "lists a cluster without its nodes",
    },
)
FAKECLOUD_STRICT = Emulator(
    name="fakecloud",
    version="0.51.0",
    used_for="by hand",
    account="123456789012",
    command=(str(FAKECLOUD), "--addr", "127.0.0.1:{port}", "--iam", "strict", "--enforce-quotas"),
    health="/_fakecloud/health",
    cannot=(
        "IAM of CloudWatch and EC2",
        "TLS",
        "functions without Docker",
        "GetCallerIdentity",
    ),
    without={
        **dict.fromkeys(
            (
                "docdb_instance_cpu",
                "neptune_instance_cpu",
                "rds_instance_cpu",
                "rds_instance_ebs",
                "rds_storage",
            ),
            "makes databases in Docker only",
        ),
        "ec2_instance_ebs": "does not say what an instance sustains",
        **dict.fromkeys(("fsx_file_server", "fsx_hdd_volume"), "does not know FSx"),
    },
)
EMULATORS = (LOCALSTACK, LOCALEMU, FAKECLOUD_STRICT)
