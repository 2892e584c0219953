"""The emulators of AWS on which the stack is deployed: LocalStack, and localemu, a fork by others that enforces rights."""

from burstwatch.kinds import find_kinds
from demo.localcloud.emulators import CACHE, LOCALSTACK, OF_LOCALSTACK, Emulator

#: Another account, whose number is its access key.
MEMBER = "333333333333"
LOCALEMU = Emulator(
    name="localemu",
    account="000000000000",
    command=(str(CACHE / "localemu" / "bin" / "python"), "-m", "tests.clouds.localemu"),
    settings={
        **OF_LOCALSTACK,
        "LOCALEMU_HOST": "localhost:{port}",
        "BURSTWATCH_EMULATOR": "localemu",
        "IAM_ENFORCEMENT": "1",
        "ROOT_ACCESS_KEYS": f"test,{MEMBER}",
        "BURSTWATCH_DECISIONS": "{folder}/decisions.jsonl",
        "CUSTOM_SSL_CERT_PATH": "{folder}/server.pem",
    },
    certificate="server.pem",
    health="/_localemu/health",
)

EMULATORS = {emulator.name: emulator for emulator in (LOCALSTACK, LOCALEMU)}
#: The kinds that each can have. localemu refuses the engine docdb, and lists a cluster of caches without its nodes.
KINDS = {
    LOCALSTACK.name: {"ebs_volume", "ec2_instance_cpu", "ec2_instance_ebs"},
    LOCALEMU.name: set(find_kinds()) - {"docdb_instance_cpu", "elasticache_node_cpu"},
}
