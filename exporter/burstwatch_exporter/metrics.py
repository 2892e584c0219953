"""Every metric once: its name, kind, labels and what it says. The docs are made of this."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

Type = Literal["gauge", "counter", "histogram"]
VOLUME = ("volume_id", "device")
BUCKET = ("volume_id", "device", "bucket")


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """One metric. A counter's name has no ``_total`` here; it gets it where it is printed."""

    name: str
    type: Type
    labels: tuple[str, ...]
    help: str

    @property
    def printed(self) -> str:
        """The name as it is scraped."""
        return f"{self.name}_total" if self.type == "counter" else self.name


def _definition(kind: Type, name: str, labels: tuple[str, ...], text: str) -> Definition:
    return Definition(name=f"burstwatch_{name}", type=kind, labels=labels, help=text)


_gauge, _counter = partial(_definition, "gauge"), partial(_definition, "counter")
_histogram = partial(_definition, "histogram")

BUILD_INFO = _gauge("exporter_build_info", ("version",), "1, with the version of the exporter.")
REFUSALS = _counter(
    "web_refusals",
    ("reason",),
    "Requests and connections that were refused: a wrong password (password), too many passwords to check (busy), "
    "closed to make room for a new connection (crowded), no whole request or handshake in time (incomplete), an answer that the client read too slowly (slow).",
)
SOURCE_UP = _gauge(
    "source_up",
    ("source",),
    "1 if the last read of the source had no problem, else 0. The exporter still uses the values that it could read.",
)
SOURCE_SECONDS = _gauge(
    "source_duration_seconds", ("source",), "How long the source took when it was last read."
)
STATE_SAVED = _gauge(
    "state_saved_timestamp_seconds",
    (),
    "When the intervals were last written to the state file, by the wall clock.",
)
VOLUME_INFO = _gauge(
    "volume_info",
    (*VOLUME, "volume_type", "type_source"),
    "1 for each EBS volume and each configured device; volume_type is empty while the type is not known. type_source is config or ec2.",
)
STACK_INFO = _gauge(
    "device_volume_info",
    ("device", "name", "volume_id", "volume_device"),
    "1 for each volume under a partition, LVM, encrypted or RAID device.",
)
MOUNT_INFO = _gauge(
    "mount_info",
    ("mountpoint", "device", "fstype", "volume_id", "volume_device"),
    "1 for each volume under a mounted file system.",
)
SIZE = _gauge("volume_size_bytes", VOLUME, "Size of the device.")
READ_OPS = _counter(
    "volume_read_ops", VOLUME, "Reads completed since the device appeared, from /proc/diskstats."
)
WRITE_OPS = _counter(
    "volume_write_ops", VOLUME, "Writes completed since the device appeared, from /proc/diskstats."
)
READ_BYTES = _counter(
    "volume_read_bytes", VOLUME, "Bytes read since the device appeared, from /proc/diskstats."
)
WRITE_BYTES = _counter(
    "volume_write_bytes", VOLUME, "Bytes written since the device appeared, from /proc/diskstats."
)
LIMIT_OPS = _gauge(
    "volume_limit_ops_per_second",
    VOLUME,
    "The most operations a second that the volume serves with credits left, by its type and size.",
)
LIMIT_BYTES = _gauge(
    "volume_limit_bytes_per_second",
    VOLUME,
    "The most bytes a second that the volume serves with credits left, by its type and size.",
)
CAPACITY = _gauge(
    "credit_capacity",
    BUCKET,
    "Credits in a full bucket: I/O operations (bucket io) or MiB (bucket throughput).",
)
REFILL = _gauge(
    "credit_refill_per_second",
    BUCKET,
    "Credits that the bucket gains each second: the volume's baseline.",
)
BURST = _gauge(
    "credit_burst_per_second",
    BUCKET,
    "Credits that can be spent a second: the burst of the volume, or less where its instance allows less.",
)
CHARGED = _counter(
    "credits_charged",
    (*BUCKET, "bound"),
    "Credits that the I/O has cost since this process started. By bound: least (EBS merges all I/O), likely (each "
    "random I/O costs one credit) and most (EBS merges nothing).",
)
BALANCE = _gauge(
    "credit_balance_ratio",
    (*BUCKET, "bound"),
    "Share of the bucket that is left, 0 to 1: the truth lies between low and high. The exporter computes the likely time to exhaustion from likely. likely is absent if the interval is too wide.",
)
EXHAUSTION = _gauge(
    "time_to_exhaustion_seconds",
    (*BUCKET, "bound"),
    "Seconds until no credits are left, +Inf for never. low is the shortest time at the present demand, worst the time at full burst. likely is absent if the interval is too wide.",
)
FULL = _gauge(
    "time_to_full_seconds",
    BUCKET,
    "Seconds until the bucket is full at the present load, +Inf for never; absent if that is not known.",
)
STATE = _gauge(
    "credit_state",
    (*BUCKET, "state"),
    "1 for the state that the bucket is in, else 0: finite (runs out at this demand), infinite (does not), "
    "exhausted, not_applicable (no bucket), idle (no I/O), unknown.",
)
BINDING = _gauge(
    "binding_constraint_info",
    (*VOLUME, "constraint"),
    "1 for the limit that holds the I/O back. The constraint is none if nothing does.",
)
HINT = _gauge(
    "served_at_baseline",
    BUCKET,
    "1 if the volume gets only its baseline and asks for more. The bucket may be empty, but this is not certain "
    "(a limit of the instance, first reads from a snapshot or a cgroup limit look the same).",
)
ORIGIN = _gauge(
    "credit_interval_info",
    (*BUCKET, "origin"),
    "1 for the origin of the interval: published (by CloudWatch), restored (saved, and all I/O since is counted), "
    "reattached or rebooted "
    "(the I/O of a gap was not seen, so the range is wider), created (a new volume), appeared (all I/O since the device came is "
    "counted), unknown, resized, contradicted (more I/O than the stated bucket allows), doubted (for some time the counters could not be believed, so the range is wider).",
)

PUBLISHED = _gauge(
    "cloudwatch_balance_ratio", BUCKET, "The newest BurstBalance that CloudWatch has, 0 to 1."
)
PUBLISHED_AT = _gauge(
    "cloudwatch_balance_timestamp_seconds", BUCKET, "The end of the period of that BurstBalance."
)
DRIFT = _gauge(
    "reconciliation_drift_ratio",
    BUCKET,
    "How far CloudWatch's balance is outside the range that the exporter had for that moment, as a share of the bucket: "
    "0 inside, above 0 if it is above the range, below 0 if it is below.",
)
DISAGREEMENTS = _counter(
    "reconciliation_disagreements",
    BUCKET,
    "How many balances of CloudWatch were outside the range, which then was widened to hold both.",
)
_LOG_PAGE = "from EBS NVMe log page 0xD0, since the attachment"
EBS_READ_OPS = _counter("ebs_read_ops", VOLUME, f"Reads completed, {_LOG_PAGE} (total_read_ops).")
EBS_WRITE_OPS = _counter(
    "ebs_write_ops", VOLUME, f"Writes completed, {_LOG_PAGE} (total_write_ops)."
)
EBS_READ_BYTES = _counter("ebs_read_bytes", VOLUME, f"Bytes read, {_LOG_PAGE} (total_read_bytes).")
EBS_WRITE_BYTES = _counter(
    "ebs_write_bytes", VOLUME, f"Bytes written, {_LOG_PAGE} (total_write_bytes)."
)
EBS_READ_SECONDS = _counter(
    "ebs_read_seconds", VOLUME, f"Time that all reads took together, {_LOG_PAGE} (total_read_time)."
)
EBS_WRITE_SECONDS = _counter(
    "ebs_write_seconds",
    VOLUME,
    f"Time that all writes took together, {_LOG_PAGE} (total_write_time).",
)
EBS_EXCEEDED_IOPS = _counter(
    "ebs_exceeded_iops_seconds",
    VOLUME,
    f"How long more IOPS were asked for than the volume has, {_LOG_PAGE} (ebs_volume_performance_exceeded_iops).",
)
EBS_EXCEEDED_TP = _counter(
    "ebs_exceeded_tp_seconds",
    VOLUME,
    f"How long more throughput was asked for than the volume has, {_LOG_PAGE} (ebs_volume_performance_exceeded_tp).",
)
EBS_EC2_EXCEEDED_IOPS = _counter(
    "ebs_ec2_exceeded_iops_seconds",
    VOLUME,
    f"How long more IOPS were asked for than the instance has, {_LOG_PAGE} "
    "(ec2_instance_ebs_performance_exceeded_iops).",
)
EBS_EC2_EXCEEDED_TP = _counter(
    "ebs_ec2_exceeded_tp_seconds",
    VOLUME,
    f"How long more throughput was asked for than the instance has, {_LOG_PAGE} "
    "(ec2_instance_ebs_performance_exceeded_tp).",
)
EBS_QUEUE = _gauge(
    "ebs_volume_queue_length",
    VOLUME,
    "I/O waiting now, from EBS NVMe log page 0xD0 (volume_queue_length).",
)
EBS_READ_LATENCY = _histogram(
    "ebs_read_io_latency_seconds", VOLUME, f"Latency of reads, {_LOG_PAGE}, in EBS's own bins."
)
EBS_WRITE_LATENCY = _histogram(
    "ebs_write_io_latency_seconds", VOLUME, f"Latency of writes, {_LOG_PAGE}, in EBS's own bins."
)

INSTANCE = ("instance_type",)
CPU_USED = _counter(
    "cpu_used_seconds",
    INSTANCE,
    "CPU time in use since the start, all CPUs together, from /proc/stat. Only where instance_type is burstable.",
)
CPU_STOLEN = _counter(
    "cpu_stolen_seconds",
    INSTANCE,
    "CPU time that the hypervisor took away since the start (steal), from /proc/stat.",
)
CPU_CAPACITY = _gauge(
    "cpu_credit_capacity", INSTANCE, "CPU credits in a full bucket, in vCPU-seconds."
)
CPU_REFILL = _gauge(
    "cpu_credit_refill_per_second",
    INSTANCE,
    "vCPU-seconds that the bucket gains each second: the instance's baseline in vCPUs.",
)
CPU_BURST = _gauge(
    "cpu_credit_burst_per_second", INSTANCE, "vCPU-seconds that can be spent a second: its vCPUs."
)
CPU_BALANCE = _gauge(
    "cpu_credit_balance_ratio",
    (*INSTANCE, "bound"),
    "Share of the CPU credits that is left, 0 to 1: the truth lies between low and high. likely is absent where the "
    "balance is not known well enough.",
)
CPU_EXHAUSTION = _gauge(
    "cpu_time_to_exhaustion_seconds",
    (*INSTANCE, "bound"),
    "Seconds until no CPU credits are left, +Inf for never: low is the shortest time at the present load, worst at full load. In "
    "Unlimited mode, the instance then begins to spend surplus credits.",
)
CPU_HELD_BACK = _gauge(
    "cpu_held_back",
    INSTANCE,
    "1 if the CPUs get just their baseline while the hypervisor takes time away: a hint of an instance in Standard mode "
    "without credits.",
)

RUN = (*VOLUME, "profile")
STEP = (*RUN, "step")
FIO_RUN_AT = _gauge("fio_last_run_timestamp_seconds", RUN, "When the newest measurement ended.")
FIO_AGE = _gauge("fio_result_age_seconds", RUN, "How old the newest measurement is.")
FIO_SUCCESS = _gauge(
    "fio_success", RUN, "1 if the measurement finished, 0 if it failed or was stopped."
)
FIO_SECONDS = _gauge(
    "fio_duration_seconds",
    RUN,
    "How long the measurement took, with the time to write its scratch file.",
)
FIO_CREDITS = _gauge(
    "fio_credits_spent",
    (*RUN, "bound"),
    "Credits that all I/O of the volume cost during the measurement: the lowest and the highest possible value.",
)
FIO_IOPS = _gauge(
    "fio_ops_per_second", (*STEP, "direction"), "Operations a second, by fio's count."
)
FIO_BYTES = _gauge("fio_bytes_per_second", (*STEP, "direction"), "Bytes a second, by fio's count.")
FIO_MEAN = _gauge("fio_latency_mean_seconds", (*STEP, "direction"), "Mean latency of an operation.")
FIO_LATENCY = _gauge(
    "fio_latency_seconds",
    (*STEP, "direction", "percentile"),
    "Completion latency at this percentile.",
)
FIO_PROMISED = _gauge(
    "fio_promised_ops_per_second",
    STEP,
    "What the volume promises for this step, both directions together.",
)
FIO_VERDICT = _gauge(
    "fio_verdict_info",
    (*STEP, "verdict"),
    "1 with the verdict: bursting, at baseline, instance-limited, as promised, as asked, below its promise, "
    "not this type, no promise, too short.",
)

#: In the order of the log page.
OF_EBS = (
    EBS_READ_OPS, EBS_WRITE_OPS, EBS_READ_BYTES, EBS_WRITE_BYTES, EBS_READ_SECONDS, EBS_WRITE_SECONDS,
    EBS_EXCEEDED_IOPS, EBS_EXCEEDED_TP, EBS_EC2_EXCEEDED_IOPS, EBS_EC2_EXCEEDED_TP, EBS_QUEUE,
)  # fmt: skip
METRICS: tuple[Definition, ...] = (
    BUILD_INFO, REFUSALS, SOURCE_UP, SOURCE_SECONDS, STATE_SAVED,
    VOLUME_INFO, STACK_INFO, MOUNT_INFO, SIZE,
    READ_OPS, WRITE_OPS, READ_BYTES, WRITE_BYTES, LIMIT_OPS, LIMIT_BYTES,
    CAPACITY, REFILL, BURST, CHARGED, BALANCE, EXHAUSTION, FULL, STATE, BINDING, HINT, ORIGIN, PUBLISHED, PUBLISHED_AT, DRIFT, DISAGREEMENTS,
    *OF_EBS, EBS_READ_LATENCY, EBS_WRITE_LATENCY,
    CPU_USED, CPU_STOLEN, CPU_CAPACITY, CPU_REFILL, CPU_BURST, CPU_BALANCE, CPU_EXHAUSTION, CPU_HELD_BACK,
    FIO_RUN_AT, FIO_AGE, FIO_SUCCESS, FIO_SECONDS, FIO_CREDITS, FIO_IOPS, FIO_BYTES, FIO_MEAN, FIO_LATENCY,
    FIO_PROMISED, FIO_VERDICT,
)  # fmt: skip
